package commandtest

import (
	"fmt"
	"math/rand/v2"
)

// containers are the templates of hashes, lists and sets. Words of two letters are drawn:
// hk, lk and sk a key that mostly holds that type, hf a field, el an element or member,
// ix an index, ct a count, sd a side, bt a timeout.
var containers = []string{
	"HSET hk hf el", "HSET hk hf el hf el hf el", "HSET hk hf n", "HMSET hk hf el hf el", "HSETNX hk hf el", "HGET hk hf", "HMGET hk hf hf hf",
	"HDEL hk hf", "HDEL hk hf hf hf", "HLEN hk", "HEXISTS hk hf", "HSTRLEN hk hf", "HKEYS hk", "HVALS hk", "HGETALL hk",
	"HINCRBY hk hf n", "HINCRBYFLOAT hk hf f", "HRANDFIELD hk", "HRANDFIELD hk ct", "HRANDFIELD hk ct WITHVALUES",
	"HSCAN hk c", "HSCAN hk 0 COUNT s", "HSCAN hk 0 MATCH p NOVALUES", "HSET hk hf", "HSET hk hf el hf",
	"HEXPIRE hk s FIELDS 1 hf", "HEXPIRE hk s NX FIELDS 2 hf hf", "HPEXPIRE hk m FIELDS 3 hf hf hf", "HPEXPIRE hk m GT FIELDS 1 hf",
	"HEXPIREAT hk s FIELDS 1 hf", "HPEXPIREAT hk n FIELDS 1 hf", "HPERSIST hk FIELDS 2 hf hf", "HTTL hk FIELDS 2 hf hf", "HPTTL hk FIELDS 1 hf",
	"HEXPIRETIME hk FIELDS 1 hf", "HPEXPIRETIME hk FIELDS 1 hf", "HGETEX hk FIELDS 1 hf", "HGETEX hk PX m FIELDS 2 hf hf", "HGETEX hk PERSIST FIELDS 1 hf",
	"HGETDEL hk FIELDS 2 hf hf", "HSETEX hk PX m FIELDS 2 hf el hf el", "HSETEX hk FNX EX s FIELDS 1 hf el", "HSETEX hk FXX KEEPTTL FIELDS 1 hf el",

	"LPUSH lk el", "LPUSH lk el el el el", "RPUSH lk el", "RPUSH lk el el el el", "LPUSHX lk el", "RPUSHX lk el", "LLEN lk", "LINDEX lk ix", "LINDEX lk n",
	"LSET lk ix el", "LINSERT lk BEFORE el el", "LINSERT lk AFTER el el", "LPOP lk", "RPOP lk", "LPOP lk ct", "RPOP lk ct", "LRANGE lk 0 -1", "LRANGE lk ix ix", "LRANGE lk n n",
	"LTRIM lk ix ix", "LTRIM lk 0 -2", "LREM lk ct el", "LREM lk n el", "LPOS lk el", "LPOS lk el RANK ct", "LPOS lk el RANK n COUNT s", "LPOS lk el COUNT 0 MAXLEN s",
	"LMOVE lk lk sd sd", "RPOPLPUSH lk lk", "LMPOP 1 lk sd", "LMPOP 2 lk lk sd COUNT ct", "LMPOP ct lk lk sd",
	"BLPOP lk lk bt", "BRPOP lk bt", "BLMOVE lk lk sd sd bt", "BRPOPLPUSH lk lk bt", "BLMPOP bt 2 lk lk sd COUNT ct",

	"SADD sk el", "SADD sk el el el el", "SADD sk n n", "SREM sk el", "SREM sk el el el", "SCARD sk", "SISMEMBER sk el", "SMISMEMBER sk el el", "SMEMBERS sk", "SMOVE sk sk el",
	"SPOP sk", "SPOP sk ct", "SRANDMEMBER sk", "SRANDMEMBER sk ct", "SSCAN sk c", "SSCAN sk 0 COUNT s MATCH p",
	"SDIFF sk sk", "SINTER sk sk", "SUNION sk sk", "SDIFFSTORE sk sk sk", "SINTERSTORE sk sk sk", "SUNIONSTORE sk sk sk", "SINTERCARD 2 sk sk", "SINTERCARD 2 sk sk LIMIT ct", "SINTERCARD ct sk sk",

	"SORT lk", "SORT lk ALPHA", "SORT sk DESC LIMIT ix ct", "SORT sk ALPHA STORE lk", "SORT lk BY key:* GET # GET key:*", "SORT sk BY nosort STORE lk", "SORT lk BY nosort DESC LIMIT ct ct",
	"SORT_RO lk BY key:*->f1 GET key:*->f2", "SORT_RO hk", "SORT lk GET lk STORE lk", "LCS k k", "LCS k k IDX WITHMATCHLEN", "LCS k k LEN", "LCS k lk IDX MINMATCHLEN ct", "OBJECT REFCOUNT k",

	"DUMP k", "DUMP n", "RESTORE k 0 v", "RESTORE k m v REPLACE",
	"EXPIRE hk s", "PERSIST lk", "TTL sk", "COPY hk hk REPLACE", "COPY lk lk", "RENAME sk sk", "DEL hk", "TYPE lk", "EXISTS hk lk sk",
}

// drawWord draws what a word of two letters means.
func drawWord(r *rand.Rand, word string) string {
	key := func(from int) string {
		if r.IntN(30) == 0 {
			return draw(r, "k")
		}
		return fmt.Sprintf("key:%d", from+r.IntN(20))
	}
	switch word {
	case "hk":
		return key(300)
	case "lk":
		return key(320)
	case "sk":
		return key(340)
	case "hf":
		return fmt.Sprintf("f%d", r.IntN(100))
	case "el":
		return [...]string{"", "a", "b", "\x00\xff", fmt.Sprint(r.IntN(100)), fmt.Sprintf("e%d", r.IntN(100))}[min(r.IntN(12), 5)]
	case "ix":
		return fmt.Sprint(r.IntN(80) - 40)
	case "ct":
		return fmt.Sprint(r.IntN(12) - 4)
	case "sd":
		return [...]string{"LEFT", "RIGHT", "left", "up"}[min(r.IntN(8), 3)]
	case "bt":
		return [...]string{"0", "1.5", "-1", "x"}[min(r.IntN(8), 3)]
	}
	return drawRanked(r, word)
}
