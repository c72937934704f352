package commandtest

import (
	"fmt"
	"math/rand/v2"
)

// arrays are the templates of arrays: ak is a key of one, ai an index, ao an operation, ap a
// predicate.
var arrays = []string{
	"ARSET ak ai el", "ARSET ak ai el el n", "ARMSET ak ai el ai el", "ARMSET ak ai f ai n ai", "ARGET ak ai", "ARMGET ak ai ai ai", "ARGETRANGE ak ai ai",
	"ARSCAN ak ai ai", "ARSCAN ak ai ai LIMIT ct", "ARGREP ak - + ap el", "ARGREP ak + ai ap el ap p AND", "ARGREP ak ai ai ap el WITHVALUES NOCASE LIMIT s",
	"ARDEL ak ai", "ARDEL ak ai ai ai", "ARDELRANGE ak ai ai", "ARDELRANGE ak ai ai ai ai", "ARCOUNT ak", "ARLEN ak", "ARNEXT ak", "ARSEEK ak ai",
	"ARINSERT ak el", "ARINSERT ak el n f", "ARRING ak ct el", "ARRING ak 8 el el el", "ARRING ak s el el", "ARLASTITEMS ak ct", "ARLASTITEMS ak s REV",
	"AROP ak ai ai ao", "AROP ak ai ai MATCH el", "ARINFO ak", "ARINFO ak FULL", "DEL ak", "COPY ak ak REPLACE", "DUMP ak", "EXPIRE ak s", "TYPE ak",
	"SDIFFCARD 2 sk sk", "SDIFFCARD ct sk sk LIMIT ct", "SUNIONCARD 2 sk sk", "SUNIONCARD 2 sk sk APPROX LIMIT ct",
	"INCREX k", "INCREX k BYINT n", "INCREX k BYFLOAT f", "INCREX k BYINT n UBOUND n SATURATE", "INCREX k BYFLOAT f LBOUND f EX s ENX", "INCREX k LBOUND n PERSIST",
	"XNACK xs xg FAIL IDS 1 id", "XNACK xs xg SILENT IDS 2 id id FORCE", "XNACK xs xg FATAL IDS 1 id RETRYCOUNT ct", "XCFGSET xs IDMP-MAXSIZE ct", "XCFGSET xs IDMP-DURATION s",
}

// newForms are new forms of commands that older servers have: what takes them can't be
// compared with those.
var newForms = []string{
	"XADD xs IDMP xc xg * f el", "XADD xs IDMP xc id * f el", "XADD xs IDMPAUTO xc * f el", "XADD xs NOMKSTREAM IDMPAUTO xc MAXLEN s * f el", "XADD xs IDMP xc id id f el", "SCAN 0 TYPE array",
}

// drawArray draws what the words of arrays stand for.
func drawArray(r *rand.Rand, word string) string {
	switch word {
	case "ak":
		if r.IntN(40) == 0 {
			return draw(r, "k")
		}
		return fmt.Sprint("key:", 460+r.IntN(6))
	case "ai":
		if r.IntN(12) == 0 {
			return [...]string{"18446744073709551614", "18446744073709551615", "9223372036854775807", "-1", "x", "007"}[r.IntN(6)]
		}
		return fmt.Sprint(r.IntN(30))
	case "ao":
		return [...]string{"SUM", "MIN", "MAX", "AND", "OR", "XOR", "USED", "AVG"}[r.IntN(8)]
	case "ap":
		return [...]string{"EXACT", "MATCH", "GLOB", "RE"}[r.IntN(4)]
	}
	return word
}
