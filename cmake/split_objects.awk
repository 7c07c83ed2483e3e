# Takes the functions that copy objects of FlatBuffers, unpack them and pack them out of a header that flatc wrote, and
# writes them to a source file, so that they are compiled once. flatc writes them inline, and each group of files that
# packs one message then compiles them all. A function begins with `inline` and ends with a brace, both at the
# beginning of a line; the header declares each of them before.
BEGIN {
  print "#include \"" include "\"\n" > objects
}
/^inline / {
  moved = /T::[A-Za-z0-9]+T\(const / || /T::operator=\(/ || /::(UnPack|UnPackTo|Pack|Reset)\(/ || /Union::[A-Za-z0-9]+Union\(const / ||
          /> Create[A-Za-z0-9]+\((::)?flatbuffers::FlatBufferBuilder &_fbb, const [A-Za-z0-9]+T \*_o,/
  if (moved) sub(/^inline /, "")
}
/^namespace / || /^}  \/\/ namespace / { print > objects }
{ print > (moved ? objects : header) }
/^}$/ { moved = 0 }
