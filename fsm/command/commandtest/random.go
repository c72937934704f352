package commandtest

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// templates are command lines in which single letters stand for what is drawn: k a
// key, v a value, n a number, s a small number of seconds, m of milliseconds, f a
// floating-point number, p a pattern, c a cursor, t a type; see drawWord for longer words.
var templates = []string{
	"SET k v", "SET k v", "SET k n", "SET k v EX s", "SET k v PX m", "SET k v NX", "SET k v XX", "SET k v GET", "SET k v KEEPTTL",
	"SET k v NX GET", "SET k v IFEQ v", "SET k v IFNE v", "SET k v XX EX s GET", "SET k v EX s PX m", "SET k v NX XX",
	"GET k", "GETDEL k", "GETSET k v", "GETEX k", "GETEX k EX s", "GETEX k PERSIST", "GETRANGE k n n", "SUBSTR k n n", "STRLEN k",
	"APPEND k v", "SETRANGE k s v", "SETNX k v", "SETEX k s v", "PSETEX k m v", "MGET k k k", "MSET k v k v", "MSETNX k v k v",
	"INCR k", "DECR k", "INCRBY k n", "DECRBY k n", "INCRBYFLOAT k f", "DIGEST k", "DELEX k", "DELEX k IFEQ v",
	"DEL k", "DEL k k k", "UNLINK k", "EXISTS k k", "TOUCH k k", "TYPE k", "RENAME k k", "RENAMENX k k", "COPY k k", "COPY k k REPLACE",
	"EXPIRE k s", "EXPIRE k s NX", "EXPIRE k s XX", "EXPIRE k s GT", "EXPIRE k s LT", "PEXPIRE k m", "EXPIRE k n", "PERSIST k",
	"TTL k", "PTTL k", "EXPIRETIME k", "PEXPIRETIME k", "RANDOMKEY", "SCAN c", "SCAN c MATCH p COUNT s", "SCAN c TYPE t", "KEYS p",
	"DBSIZE", "PING", "ECHO v", "TIME",
}

// rare are those that would leave nothing to compare if they came as often.
var rare = []string{"FLUSHALL", "FLUSHDB", "NOSUCH k", "SET k", "GET k k"}

// Source draws commands.
type Source struct {
	*rand.Rand
	// Fits reports which commands may stand within others: in scripts and in the words of
	// what looks at commands. nil admits all, and scripts that use up their budget too.
	Fits func(argv [][]byte) bool
}

// Random is a command drawn by r.
func Random(r *rand.Rand) [][]byte { return Source{Rand: r}.Next() }

// Next is the next command.
func (s Source) Next() [][]byte {
	switch s.IntN(10) {
	case 0:
		return s.corrupted(s.script(), 30)
	case 1:
		return s.corrupted(s.around(), 12)
	}
	return s.ofData()
}

// ofData is a command on data.
func (s Source) ofData() [][]byte {
	r := s.Rand
	list := templates
	switch r.IntN(4) {
	case 0:
		list = containers
	case 1, 2:
		list = ranked
	}
	switch r.IntN(8) {
	case 0, 1:
		list = documents
	case 2, 3:
		list = streams
	case 5:
		list = strange
	case 4:
		list = arrays
		if s.Fits == nil && r.IntN(2) == 0 {
			list = [...][]string{newForms, indexes}[r.IntN(2)]
		}
	}
	if r.IntN(500) == 0 {
		list = rare
	}
	argv := fill(r, list[r.IntN(len(list))])
	if r.IntN(50) == 0 && len(argv) > 1 { // corrupt a word
		argv[1+r.IntN(len(argv)-1)] = []byte(draw(r, string("kvnsmfpct"[r.IntN(9)])))
	}
	return s.corrupted(argv, 25)
}

// within is a command on data that may stand within another.
func (s Source) within() [][]byte {
	for range 100 {
		if argv := s.ofData(); s.Fits == nil || s.Fits(argv) {
			return argv
		}
	}
	return [][]byte{[]byte("PING")}
}

// fill draws the words of a template.
func fill(r *rand.Rand, template string) (argv [][]byte) {
	for _, word := range strings.Fields(template) {
		argv = append(argv, []byte(draw(r, word)))
	}
	return argv
}

func draw(r *rand.Rand, word string) string {
	switch word {
	case "k":
		if r.IntN(8) == 0 {
			return fmt.Sprintf("key:%d", 300+r.IntN(100)) // of the containers
		}
		return fmt.Sprintf("key:%d", r.IntN(300))
	case "v":
		return [...]string{"", "a", "hello", "0", "12", "-7", "3.5", "\x00\xff\r\n", strings.Repeat("x", r.IntN(200))}[r.IntN(9)]
	case "n":
		return [...]string{"0", "1", "-1", "7", "-300", "9223372036854775807", "-9223372036854775808", "01", "x"}[r.IntN(9)]
	case "s":
		return fmt.Sprint(r.IntN(60))
	case "m":
		return fmt.Sprint(r.IntN(60_000))
	case "f":
		return [...]string{"0.1", "-2.5", "1e3", "3", "inf", "nan", "1.5e-7", "x"}[r.IntN(8)]
	case "p":
		return [...]string{"*", "key:1*", "key:[1-3]?", "nothing", "*[^0]", "\\"}[r.IntN(6)]
	case "c":
		return [...]string{"0", "0", "2251799813685248", "17", "x"}[r.IntN(5)]
	case "t":
		return [...]string{"string", "hash", "nope"}[r.IntN(3)]
	}
	return drawWord(r, drawStream(r, drawArray(r, drawJSON(r, drawAround(r, drawIndex(r, drawStrange(r, word)))))))
}
