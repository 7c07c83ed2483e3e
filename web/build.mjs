// Builds the page and writes it as a C++ source: node build.mjs FOLDER SOURCE. The files lie end to
// end in SOURCE.bin, each as it is, with gzip and with brotli; the source has the assembler read
// that file and says where each begins.
import {execFileSync} from 'node:child_process';
import {createHash} from 'node:crypto';
import {readdirSync, readFileSync, statSync, writeFileSync} from 'node:fs';
import {extname, join, relative} from 'node:path';
import {brotliCompressSync, constants, gzipSync} from 'node:zlib';

const [folder, source] = process.argv.slice(2);
const node = (...argv) => execFileSync(process.execPath, argv, {stdio: 'inherit'});
node('node_modules/vite/bin/vite.js', 'build', '--outDir', folder, '--emptyOutDir', '--logLevel', 'warn');

const types = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

function filesBelow(path) {
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path).sort().flatMap((name) => filesBelow(join(path, name)));
}

const pieces = [];
let size = 0;
// The C++ text of a piece of the blob.
function put(bytes) {
  const text = `{gorgo_page + ${size}, ${bytes.length}}`;
  pieces.push(bytes);
  size += bytes.length;
  return text;
}

const brotli = {params: {[constants.BROTLI_PARAM_QUALITY]: 11}};
const entries = filesBelow(folder).map((path) => {
  const bytes = readFileSync(path);
  const type = types[extname(path)];
  if (type === undefined) throw new Error(`no content type is known for ${path}`);
  const etag = createHash('sha256').update(bytes).digest('hex').slice(0, 16);
  const forms = [bytes, gzipSync(bytes, {level: 9}), brotliCompressSync(bytes, brotli)].map(put);
  return `    {"${relative(folder, path)}", "${type}", "\\"${etag}\\"",\n     ${forms.join(', ')}},`;
});

writeFileSync(`${source}.bin`, Buffer.concat(pieces));
writeFileSync(source, `#include "server/http/page_files.hpp"

#include <array>

asm(".section .rodata\\n"
    ".global gorgo_page\\n"
    "gorgo_page:\\n"
    ".incbin \\"${source}.bin\\"\\n"
    ".previous\\n");
extern "C" const char gorgo_page[];

namespace gorgo::server::http {

std::span<const PageFile> page_files() {
  static const auto files = std::to_array<PageFile>({
${entries.join('\n')}
  });
  return files;
}

}  // namespace gorgo::server::http
`);
