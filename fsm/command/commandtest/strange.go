package commandtest

import "math/rand/v2"

// strange are templates whose words are almost right: sw is a number as strtod or strtol may
// take it, sb a bound of scores or members where either may stand, sn a name of any bytes, ss a
// word where a subcommand stands, so an option. They are there for the texts of errors, and for
// which of two comes first.
var strange = []string{
	"SET k v EX sw", "SET k v PXAT sw so", "GETEX k EX sw", "GETEX k so sw", "SETEX k sw v", "EXPIRE k sw", "EXPIRE k sw so", "PEXPIREAT k sw so so", "GETRANGE k sw sw", "SETRANGE k ix el", "INCRBY k sw", "INCRBYFLOAT k sw",
	"HINCRBY hk hf sw", "HINCRBYFLOAT hk hf sw", "LINDEX lk sw", "LSET lk sw el", "LRANGE lk sw sw", "LTRIM lk sw sw", "LREM lk sw el", "LPOP lk sw", "LPOS lk el RANK ct COUNT sw", "LPOS lk el COUNT sw MAXLEN sw", "LMPOP sw lk lk LEFT", "LMPOP 1 lk so COUNT sw", "LINSERT lk so el el", "LMOVE lk lk so sd",
	"SINTERCARD sw sk sk", "SINTERCARD 2 sk sk LIMIT sw", "SMOVE sk zk sn", "SISMEMBER sk sn", "SADD sk sn", "HSET hk sn sn", "SET sn sn", "GET sn", "DEL sn",
	"ZADD zk sw zm", "ZADD zk so sw zm", "ZADD zk so so sw zm", "ZINCRBY zk sw zm", "ZRANGE zk sw sw", "ZRANGE zk sw sw so", "ZRANGE zk sb sb BYSCORE", "ZRANGE zk sb sb BYLEX", "ZRANGE zk sb sb BYSCORE LIMIT sw sw", "ZRANGE zk sb sb so so", "ZRANGEBYSCORE zk sb sb", "ZRANGEBYSCORE zk sb sb LIMIT sw sw", "ZREVRANGEBYSCORE zk sb sb WITHSCORES",
	"ZRANGEBYLEX xk sb sb", "ZREVRANGEBYLEX xk sb sb LIMIT sw sw", "ZCOUNT zk sb sb", "ZLEXCOUNT xk sb sb", "ZREMRANGEBYSCORE zk sb sb", "ZREMRANGEBYLEX xk sb sb", "ZREMRANGEBYRANK zk sw sw", "ZRANGESTORE zk zk sb sb BYSCORE", "ZPOPMIN zk sw", "ZMPOP sw zk MIN", "ZMPOP 1 zk so COUNT sw",
	"ZUNION sw zk zk", "ZUNION 2 zk zk WEIGHTS sw sw", "ZUNION 2 zk zk AGGREGATE so", "ZINTERSTORE zk 2 zk zk WEIGHTS sw 1", "ZDIFFSTORE zk sw zk zk", "ZINTERCARD 2 zk zk LIMIT sw", "ZMSCORE zk sn zm", "ZRANK zk sn",
	"GEOADD gk sw sw zm", "GEODIST gk zm zm so", "GEOSEARCH gk FROMLONLAT sw sw BYRADIUS sw m", "GEOSEARCH gk FROMMEMBER zm BYBOX sw sw km COUNT sw", "GEOSEARCH gk FROMMEMBER sn BYRADIUS 100 so", "GEORADIUS gk sw sw sw m", "GEORADIUSBYMEMBER gk zm sw km so",
	"BITFIELD bk GET so bo", "BITFIELD bk SET u8 ix sw", "BITFIELD bk OVERFLOW so INCRBY i8 bo sw", "BITFIELD_RO bk GET u8 ix", "GETBIT bk sw", "SETBIT bk bo sw",
	"XADD xs sw f el", "XADD xs MAXLEN sw * f el", "XADD xs MAXLEN ~ s LIMIT sw * f el", "XADD xs so id f el", "XRANGE xs sw sw", "XRANGE xs xr xr COUNT sw", "XDEL xs sw", "XTRIM xs MAXLEN sw", "XTRIM xs so sw", "XACK xs xg sw", "XPENDING xs xg xr xr sw", "XPENDING xs xg IDLE sw - + sw", "XCLAIM xs xg xc sw id", "XCLAIM xs xg xc 0 id so sw", "XAUTOCLAIM xs xg xc m sw", "XAUTOCLAIM xs xg xc m 0 COUNT sw",
	"XGROUP CREATE xs xg sw", "XGROUP CREATE xs xg 0 ENTRIESREAD sw", "XGROUP ss xs xg", "XINFO ss xs", "XREAD COUNT sw STREAMS xs id", "XREADGROUP GROUP xg xc COUNT sw STREAMS xs >",
	"SORT lk LIMIT sw sw", "SORT lk so", "COPY k k so", "COPY k k DB sw", "LCS k k so", "LCS k k IDX MINMATCHLEN sw", "OBJECT ss k", "RESTORE k sw sn", "RESTORE k 0 sn so sw",
	"EVAL calls sw k", "FCALL fn sw k", "SCRIPT ss el", "FUNCTION ss el", "PUBSUB ss el", "CLIENT ss el", "CONFIG ss el", "ACL ss el", "COMMAND ss el", "SLOWLOG ss el", "MEMORY ss k", "sn", "sn el sn", "PING sn", "ECHO sn", "PUBLISH ch sn",
}

// bounds are bounds of scores and members, right in some places and wrong in others.
var bounds = []string{"(1", "[1", "[m1", "(m1", "-", "+", "(", "[", "(inf", "(-inf", "(+inf", "(nan", "(1e400", "( 1", "(1 ", "((1", "[[", "(\x00", "-inf", "+inf", "(-0", "(0x10", "(1e2", "1(", "--", "+-"}

// names are names of any bytes.
var names = []string{"", " ", "a b", "\x00", "a\x00b", "\xff\xfe", "\r\n", "a\nb", "\"", "'", "\\", "%s", "%d", "{tag}", "GET", "*", "\u00e9"}

// drawStrange draws what the words of strange stand for.
func drawStrange(r *rand.Rand, word string) string {
	pick := func(of []string) string { return of[r.IntN(len(of))] }
	switch word {
	case "sw":
		if r.IntN(3) == 0 {
			return draw(r, [...]string{"n", "s", "ix", "ct", "zs"}[r.IntN(5)])
		}
		return pick(boundaries)
	case "sb":
		if r.IntN(4) == 0 {
			return pick(boundaries)
		}
		return pick(bounds)
	case "sn":
		return pick(names)
	case "so":
		return pick(options)
	case "ss":
		return [...]string{"", "help me", "get\x00", "\xff", "NoSuch", "create ", "|", "a|b"}[r.IntN(8)]
	}
	return word
}
