# Writes a morning of a building with six rooms as event lines, one reading of each room a minute.
function event(type, minute, second, attributes) {
  printf "{\"type\":\"%s\",\"ts\":%.0f,\"attrs\":{%s}}\n", type, start + (60 * minute + second) * 1000, attributes
}
function room(name) { return "\"room\":\"" name "\"" }

BEGIN {
  start = 1764054000000  # 2025-11-25 07:00 UTC
  for (m = 0; m < 120; ++m) {
    for (r = 1; r <= 6; ++r) {
      name = "room " r
      celsius = 19 + r / 4 + m / 60
      co2 = 450 + 20 * r
      if (r == 2 && m >= 30) co2 += 12 * (m - 30)        # a meeting without air
      if (r == 4 && m == 75) celsius += 14               # something burns
      if (r == 5 && m >= 50) continue                    # the battery is empty
      event("Climate", m, r, room(name) ",\"celsius\":" celsius ",\"co2\":" co2)
      if (r == 2 && m >= 30 && m % 5 == 0) event("Motion", m, 10, room(name))
    }
    if (m == 12) event("Window", m, 20, room("room 3") ",\"open\":true")
    if (m == 40) event("Heating", m, 20, room("room 3") ",\"on\":true")    # the window is still open
    if (m == 41) event("Window", m, 20, room("room 3") ",\"open\":false")
    if (m == 45) event("Heating", m, 20, room("room 3") ",\"on\":true")
  }
}
