import {fileURLToPath} from 'node:url';
import {defineConfig} from 'vite';

export default defineConfig({
  base: '/',
  resolve: {alias: {gorgo: fileURLToPath(new URL('../clients/js/src/index.js', import.meta.url))}},
  esbuild: {jsx: 'automatic', jsxImportSource: 'preact'},
  build: {
    target: 'es2022',
    modulePreload: {polyfill: false},
    assetsInlineLimit: 0,
    // Tests compare the sizes of the first page and of the editor, so that each has names of its own.
    rollupOptions: {output: {entryFileNames: 'assets/[name]-[hash].js', chunkFileNames: 'assets/[name]-[hash].js'}},
  },
  // GORGO names a running server for `npx vite`.
  server: {fs: {allow: ['.', '../clients/js']}, proxy: {'/v1': {target: process.env.GORGO ?? 'http://127.0.0.1:8080', ws: true}}},
});
