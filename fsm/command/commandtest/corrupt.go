package commandtest

import (
	"slices"
	"strings"
)

// boundaries are numbers at the ends of what is one, and texts that almost are. Those that
// would make a real server take hundreds of megabytes are left out.
var boundaries = []string{
	"9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809", "18446744073709551615", "18446744073709551616",
	"4294967296", "-4294967296", "1e400", "-1e400", "1e-400", "inf", "-inf", "+inf", "infinity", "nan", "-nan", "0x10", "1e2", "", " 1", "1 ", "+1", "-0", "007", "1.", ".5", "1_0", "0b1", "--1", "1\x00", " ", "\t\x00", "\x00",
	"1\n", "\t1", "1 2", "1e5", "0x", "1e", "-", "+", ".", "1..2", "1,5", "-1e-5", "123456789012345678901234567890",
}

// options are words that mean something to some command. BLOCK isn't among them: nobody
// would end the waiting.
var options = []string{
	"NX", "XX", "GT", "LT", "CH", "INCR", "WITHSCORES", "LIMIT", "COUNT", "MATCH", "TYPE", "GET", "EX", "PX", "EXAT", "PXAT", "KEEPTTL", "PERSIST", "REV", "BYSCORE", "BYLEX",
	"WEIGHTS", "AGGREGATE", "SUM", "STORE", "STOREDIST", "REPLACE", "ABSTTL", "IDLETIME", "FREQ", "ASC", "DESC", "ALPHA", "BY", "NOMKSTREAM", "MAXLEN", "MINID", "~", "=", "STREAMS",
	"JUSTID", "FORCE", "RANK", "LEFT", "BEFORE", "MIN", "MAX", "ANY", "WITHDIST", "WITHCOORD", "FROMMEMBER", "BYRADIUS", "OVERFLOW", "SAT", "BIT", "BYTE", "IDX", "LEN", "FIELDS", "GROUP", "NOACK", "DB", "*", "$", ">", "+", "-", "#",
}

// corrupted breaks one in so many commands: words too few or too many, in the wrong place,
// of the wrong type or at the end of a range.
func (s Source) corrupted(argv [][]byte, oneIn int) [][]byte {
	if s.IntN(oneIn) > 0 || len(argv) == 0 {
		return argv
	}
	argv = slices.Clone(argv)
	if len(argv) == 1 {
		return append(argv, []byte(s.word()))
	}
	at := 1 + s.IntN(len(argv)-1)
	switch s.IntN(8) {
	case 0:
		return slices.Delete(argv, at, at+1)
	case 1:
		return slices.Insert(argv, at, argv[at])
	case 2:
		return append(argv, []byte(s.word()))
	case 3:
		other := 1 + s.IntN(len(argv)-1)
		argv[at], argv[other] = argv[other], argv[at]
	case 4:
		argv[at] = []byte(s.pick(boundaries...))
	case 5:
		if len(argv[at]) < 40 { // no program
			argv[at] = []byte(strings.ToLower(string(argv[at])))
		}
	case 6:
		return slices.Insert(argv, at, []byte(s.pick(options...)))
	default:
		argv[at] = []byte(s.word())
	}
	return argv
}

// word is a word that may mean anything.
func (s Source) word() string {
	switch s.IntN(4) {
	case 0:
		return s.pick(boundaries...)
	case 1:
		return s.pick(options...)
	}
	return draw(s.Rand, s.pick("k", "v", "n", "s", "hk", "lk", "sk", "zk", "xs", "el", "id", "zs"))
}

func (s Source) pick(of ...string) string { return of[s.IntN(len(of))] }
