# Writes OUTPUT, a header that says which commit of SOURCE is built; leaves it alone when it is the
# same as before, so that nothing is rebuilt.
execute_process(COMMAND git -C ${SOURCE} describe --always --dirty=+ --abbrev=12 --exclude=*
  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "#define GORGO_BENCH_COMMIT \"${commit}\"\n")
