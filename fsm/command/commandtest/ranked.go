package commandtest

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// ranked are the templates of sorted sets, places, bitmaps and sketches. zk, xk, gk, bk
// and hk2 are keys of sorted sets, of such with equal scores, of places, bitmaps and
// sketches; zm a member, zs a score, zb a bound of scores, xb one of members, lo and la
// a longitude and a latitude, un a unit, bo a bit's place, ft the type of a field.
var ranked = []string{
	"ZADD zk zs zm", "ZADD zk zs zm zs zm zs zm zs zm", "ZADD zk zs zm zs zm zs zm zs zm", "ZADD zk CH zs zm zs zm", "ZADD zk NX zs zm", "ZADD zk XX CH zs zm zs zm",
	"ZADD zk GT CH zs zm zs zm", "ZADD zk LT CH zs zm", "ZADD zk INCR zs zm", "ZADD zk XX INCR zs zm", "ZADD zk GT INCR zs zm", "ZADD zk NX GT zs zm", "ZADD zk NX XX zs zm",
	"ZINCRBY zk zs zm", "ZREM zk zm", "ZREM zk zm zm zm", "ZCARD zk", "ZSCORE zk zm", "ZMSCORE zk zm zm", "ZRANK zk zm", "ZREVRANK zk zm", "ZCOUNT zk zb zb",
	"ZRANGE zk ix ix", "ZRANGE zk ix ix WITHSCORES", "ZRANGE zk ix ix REV WITHSCORES", "ZRANGE zk zb zb BYSCORE WITHSCORES", "ZRANGE zk zb zb BYSCORE REV LIMIT ct s", "ZRANGE zk zb zb LIMIT s ct BYSCORE",
	"ZREVRANGE zk ix ix WITHSCORES", "ZRANGEBYSCORE zk zb zb", "ZRANGEBYSCORE zk zb zb WITHSCORES LIMIT ct ct", "ZREVRANGEBYSCORE zk zb zb WITHSCORES", "ZRANGESTORE zk zk ix ix", "ZRANGESTORE zk zk zb zb BYSCORE REV LIMIT 0 s",
	"ZPOPMIN zk", "ZPOPMAX zk", "ZPOPMIN zk ct", "ZPOPMAX zk ct", "ZMPOP 2 zk zk MIN", "ZMPOP 2 zk zk MAX COUNT ct", "ZMPOP ct zk zk MIN",
	"ZREMRANGEBYRANK zk ix ix", "ZREMRANGEBYSCORE zk zb zb", "ZRANDMEMBER zk", "ZRANDMEMBER zk ct", "ZRANDMEMBER zk ct WITHSCORES", "ZSCAN zk c", "ZSCAN zk 0 COUNT s MATCH p",
	"BZPOPMIN zk zk bt", "BZPOPMAX zk bt", "BZMPOP bt 2 zk zk MAX COUNT ct",
	"ZUNION 2 zk zk WITHSCORES", "ZUNION 3 zk zk sk WEIGHTS zs zs zs AGGREGATE MAX WITHSCORES", "ZINTER 2 zk zk", "ZINTER 2 zk zk WEIGHTS zs zs WITHSCORES", "ZINTER 2 zk sk AGGREGATE MIN WITHSCORES", "ZDIFF 2 zk zk WITHSCORES", "ZDIFF 3 zk sk zk",
	"ZUNIONSTORE zk 2 zk zk", "ZUNIONSTORE zk 2 zk sk WEIGHTS zs zs", "ZINTERSTORE zk 2 zk zk AGGREGATE MAX", "ZDIFFSTORE zk 2 zk zk", "ZINTERCARD 2 zk zk", "ZINTERCARD 2 zk sk LIMIT ct", "ZUNION ct zk zk",

	"ZADD xk 0 zm 0 zm 0 zm", "ZADD xk 0 zm 0 zm 0 zm", "ZRANGEBYLEX xk xb xb", "ZRANGEBYLEX xk xb xb LIMIT ct ct", "ZREVRANGEBYLEX xk xb xb", "ZRANGE xk xb xb BYLEX REV LIMIT 0 s", "ZLEXCOUNT xk xb xb", "ZREMRANGEBYLEX xk xb xb", "ZRANGESTORE xk xk xb xb BYLEX",

	"GEOADD gk lo la zm", "GEOADD gk lo la zm lo la zm lo la zm", "GEOADD gk NX CH lo la zm", "GEOADD gk XX lo la zm", "GEODIST gk zm zm", "GEODIST gk zm zm un", "GEOPOS gk zm zm", "GEOHASH gk zm zm", "ZREM gk zm",
	"GEOSEARCH gk FROMLONLAT lo la BYRADIUS m un ASC WITHDIST", "GEOSEARCH gk FROMLONLAT lo la BYBOX m m un WITHHASH", "GEOSEARCH gk FROMMEMBER zm BYRADIUS m un COUNT ct WITHCOORD", "GEOSEARCH gk FROMMEMBER zm BYBOX m m un DESC COUNT ct ANY",
	"GEORADIUS gk lo la m un", "GEORADIUS gk lo la m un WITHDIST WITHCOORD WITHHASH", "GEORADIUS_RO gk lo la m un DESC", "GEORADIUSBYMEMBER gk zm m un COUNT ct", "GEORADIUSBYMEMBER_RO gk zm m un",
	"GEORADIUS gk lo la m un STORE gk", "GEOSEARCHSTORE gk gk FROMLONLAT lo la BYRADIUS m un", "GEOSEARCHSTORE zk gk FROMMEMBER zm BYBOX m m un STOREDIST", "GEORADIUSBYMEMBER gk zm m un STOREDIST zk",

	"SETBIT bk bo 1", "SETBIT bk bo 1", "SETBIT bk bo 0", "GETBIT bk bo", "BITCOUNT bk", "BITCOUNT bk ix ix", "BITCOUNT bk ix ix BIT", "BITCOUNT bk n n BYTE", "BITPOS bk 1", "BITPOS bk 0 ix", "BITPOS bk 1 ix ix", "BITPOS bk 0 ix ix BIT", "BITPOS bk 1 ix ix BIT",
	"BITOP AND bk bk bk", "BITOP OR bk bk bk bk", "BITOP XOR bk bk bk", "BITOP NOT bk bk", "BITOP DIFF bk bk bk", "BITOP ONE bk bk bk bk",
	"BITFIELD bk GET ft bo", "BITFIELD bk SET ft bo n GET ft bo", "BITFIELD bk INCRBY ft bo n OVERFLOW SAT INCRBY ft bo n", "BITFIELD bk OVERFLOW FAIL INCRBY ft bo n SET ft bo n", "BITFIELD_RO bk GET ft bo", "BITFIELD bk SET ft #s n",
	"GET bk", "STRLEN bk", "GETRANGE bk ix ix", "SETRANGE bk m v", "APPEND bk v", "COPY bk bk REPLACE", "SET bk v", "DEL bk",

	"PFADD hk2 el", "PFADD hk2 el el el zm zm", "PFADD hk2", "PFCOUNT hk2", "PFCOUNT hk2 hk2", "PFMERGE hk2 hk2 hk2", "PFDEBUG ENCODING hk2", "PFDEBUG DECODE hk2", "PFDEBUG TODENSE hk2", "PFADD zk el", "PFCOUNT bk",

	"EXPIRE zk s", "PERSIST zk", "TTL gk", "COPY zk zk REPLACE", "RENAME gk gk", "TYPE zk", "EXISTS zk bk",
}

// drawRanked draws what the words of ranked stand for.
func drawRanked(r *rand.Rand, word string) string {
	key := func(from, n int) string {
		if r.IntN(40) == 0 {
			return draw(r, "k")
		}
		return fmt.Sprintf("key:%d", from+r.IntN(n))
	}
	switch word {
	case "zk":
		return key(400, 8)
	case "xk":
		return fmt.Sprintf("key:%d", 410+r.IntN(3))
	case "gk":
		return fmt.Sprintf("key:%d", 420+r.IntN(3))
	case "bk":
		return key(430, 6)
	case "hk2": // no other command may see that Redis keeps estimates in the value
		return fmt.Sprintf("sketch:%d", r.IntN(5))
	case "zm":
		if r.IntN(200) == 0 {
			return strings.Repeat("long", 20)
		}
		return fmt.Sprintf("m%d", r.IntN(250))
	case "zs", "zb":
		score := fmt.Sprint(r.IntN(40) - 20)
		switch r.IntN(12) {
		case 0:
			score = [...]string{"0", "-0", "inf", "-inf", "0.1", "-2.5", "1e20", "nan"}[r.IntN(8)]
		case 1, 2:
			score = fmt.Sprint(float64(r.IntN(4000)-2000) / 8)
		}
		if word == "zb" && r.IntN(4) == 0 {
			return "(" + score
		}
		return score
	case "xb":
		return [...]string{"-", "+", fmt.Sprintf("[m%d", r.IntN(250)), fmt.Sprintf("(m%d", r.IntN(250)), "m1"}[min(r.IntN(9)/2, 4)]
	case "lo":
		return fmt.Sprintf("%.6f", 2+r.Float64()*float64([...]int{1, 177}[r.IntN(2)])*0.999)
	case "la":
		return fmt.Sprintf("%.6f", 2+r.Float64()*float64([...]int{1, 82}[r.IntN(2)])*0.999)
	case "un":
		return [...]string{"m", "km", "FT", "mi", "yd"}[min(r.IntN(20), 4)]
	case "bo":
		return fmt.Sprint(r.IntN([...]int{50, 2000, 100_000}[r.IntN(3)]))
	case "ft":
		return [...]string{"i", "u"}[r.IntN(2)] + fmt.Sprint(1+r.IntN(64))
	}
	return word
}
