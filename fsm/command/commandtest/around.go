package commandtest

import (
	"fmt"
	"math/rand/v2"
)

// surroundings are templates of commands that are about something beside the keys, as far
// as their replies follow from what was sent before: ch is a channel, us a user, ru a rule
// about one, ek a key whose values are only ever set whole, nf flags of notifications, lb a
// library and fn a function.
var surroundings = []string{
	"PUBLISH ch el", "SPUBLISH ch el", "PUBSUB CHANNELS", "PUBSUB CHANNELS p", "PUBSUB NUMSUB ch ch", "PUBSUB NUMSUB", "PUBSUB NUMPAT", "PUBSUB SHARDCHANNELS", "PUBSUB SHARDNUMSUB ch", "PUBSUB ch", "PUBLISH ch",
	"SELECT 0", "SELECT n", "MOVE k n", "SWAPDB 0 0", "SWAPDB 0 n", "PING", "PING el", "PING el el", "ECHO el", "ECHO", "TIME", "TIME n",
	"SET ek ev", "SET ek ev", "HSET eh hf el", "HSET eh hf el hf ev", "DEL eh", "ZADD ez zs zm", "DEL ez", "SADD es n", "SADD es s s", "DEL es", "OBJECT ENCODING ek", "OBJECT ENCODING ek", "OBJECT ENCODING eh", "OBJECT ENCODING ez", "OBJECT ENCODING es",
	"OBJECT FREQ k", "OBJECT HELP", "OBJECT k ek", "OBJECT REFCOUNT ek", "OBJECT ENCODING", "MEMORY USAGE nothing",
	"COMMAND INFO nothing", "COMMAND HELP", "COMMAND COUNT el", "COMMAND GETKEYS", "COMMAND GETKEYS nothing k",
	"CONFIG GET notify-keyspace-events", "CONFIG GET notify-keyspace-*", "CONFIG SET notify-keyspace-events nf", "CONFIG SET notify-keyspace-events", "CONFIG GET", "CONFIG el",
	"CLIENT GETNAME", "CLIENT SETNAME el", "CLIENT SETNAME", "CLIENT NO-EVICT on", "CLIENT NO-EVICT off", "CLIENT NO-EVICT el", "CLIENT UNBLOCK n", "CLIENT KILL ID 99999999", "CLIENT KILL TYPE el", "CLIENT KILL 1.2.3.4:5", "CLIENT HELP", "CLIENT el",
	"ACL SETUSER us ru", "ACL SETUSER us ru ru", "ACL SETUSER us ru ru ru ru", "ACL SETUSER us reset", "ACL SETUSER us", "ACL GETUSER us", "ACL GETUSER us", "ACL DELUSER us", "ACL DELUSER us us", "ACL WHOAMI", "ACL HELP", "ACL CAT el", "ACL GENPASS n", "ACL el",
	"SCRIPT KILL", "SCRIPT HELP", "SCRIPT EXISTS", "SCRIPT EXISTS el el", "SCRIPT FLUSH el", "SCRIPT el", "SCRIPT DEBUG el",
	"FUNCTION DELETE lb", "FUNCTION DELETE lb", "FUNCTION LIST LIBRARYNAME lb", "FUNCTION LIST LIBRARYNAME lb WITHCODE", "FUNCTION LIST LIBRARYNAME", "FUNCTION LIST el", "FUNCTION FLUSH", "FUNCTION FLUSH el", "FUNCTION KILL", "FUNCTION HELP", "FUNCTION RESTORE el", "FUNCTION RESTORE el APPEND",
	"FCALL fn 1 k el", "FCALL fn 1 k el", "FCALL fn 2 k hk el el", "FCALL fn 0", "FCALL_RO fn 1 k el", "FCALL_RO fn 0 el", "FCALL fn n k", "FCALL fn ct k k", "FCALL el 0", "FCALL fn",
	"DUMP ek", "COPY ek ek DB n", "COPY ek eh REPLACE", "RESTORE ek n el", "RESTORE ek s el IDLETIME n", "WAIT 0 0", "WAIT n s", "INFO", "LASTSAVE", "ROLE", "LOLWUT", "CLUSTER KEYSLOT k", "CLUSTER COUNTKEYSINSLOT n", "CLUSTER el",
	"SLOWLOG HELP", "SLOWLOG el", "LATENCY el", "MEMORY HELP", "MEMORY el", "DEBUG el", "EXEC", "DISCARD", "UNWATCH",
}

// around is such a command.
func (s Source) around() [][]byte {
	switch s.IntN(12) {
	case 0:
		return append([][]byte{[]byte("COMMAND"), []byte(s.pick("GETKEYS", "GETKEYSANDFLAGS"))}, s.within()...)
	case 1:
		return append([][]byte{[]byte("ACL"), []byte("DRYRUN"), []byte(draw(s.Rand, "us"))}, s.within()...)
	case 2, 3:
		argv := [][]byte{[]byte("FUNCTION"), []byte("LOAD")}
		if s.IntN(2) == 0 {
			argv = append(argv, []byte("REPLACE"))
		}
		return append(argv, []byte(s.library()))
	}
	return fill(s.Rand, s.pick(surroundings...))
}

// rules are those of ACL SETUSER, right and wrong.
var rules = []string{
	"on", "off", "reset", "resetpass", "nopass", "resetkeys", "allkeys", "resetchannels", "allchannels", "allcommands", "nocommands", "clearselectors", ">secret", "<secret", ">other", "#5e884898da28047151d0e56f8dc6292773603d0d6aabbdd62a11ef721d1542d8", "#short", "!5e884898da28047151d0e56f8dc6292773603d0d6aabbdd62a11ef721d1542d8",
	"~*", "~key:*", "~key:3*", "%R~key:1*", "%W~key:4*", "%RW~a", "%~a", "%X~a", "&*", "&news*", "+@all", "-@all", "+get", "-get", "+set", "+@read", "-@write", "+@nothing", "+nothing", "+config|get", "-config|set", "+client", "-client|kill",
	"(+set ~key:2*)", "(+get", "()", "(~key:*)", "bad", "", "~a b", "sanitize-payload", "skip-sanitize-payload",
}

// drawAround draws what the words of surroundings stand for.
func drawAround(r *rand.Rand, word string) string {
	switch word {
	case "ch":
		return [...]string{"news", "news:1", "quiet", ""}[r.IntN(4)]
	case "us":
		return [...]string{"ann", "bob", "cy"}[r.IntN(3)]
	case "ru":
		return rules[r.IntN(len(rules))]
	case "ek":
		return fmt.Sprint("whole:", r.IntN(5))
	case "eh", "ez", "es":
		return fmt.Sprint(word, ":", r.IntN(3))
	case "ev":
		return [...]string{"", "1", "-12", "9223372036854775807", "9223372036854775808", "007", "3.5", "a", fmt.Sprintf("%044d", 7), fmt.Sprintf("%045d", 7), fmt.Sprintf("%0100d", 7)}[r.IntN(11)]
	case "nf":
		return [...]string{"KEA", "Kg$", "", "AK", "Elshzxedtm", "g", "Kq", "A"}[r.IntN(8)]
	case "lb":
		return fmt.Sprint("lib", r.IntN(3))
	case "fn":
		return fmt.Sprint("f", r.IntN(5))
	}
	return word
}
