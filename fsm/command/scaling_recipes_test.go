package command

import "strings"

// valuesOf make a value of n elements of each type at v.
var valuesOf = map[string]string{
	"string": "SET v %x", "paged": "SETRANGE v 0 %x", "list": "RPUSH v (* e# *)", "hash": "HSET v (* f# value *)", "set": "SADD v (* m# *)", "ints": "SADD v (* # *)",
	"zset": "ZADD v (* # m# *)", "stream": "%n*XADD v * f value", "array": "ARINSERT v (* e# *)", "json": "JSON.SET v $ %ints", "sketch": "PFADD v (* m# *)",
	"vectors": "VECTOR.CREATE v DIM 4 METRIC COSINE; %n*VECTOR.ADD v id# VALUES 4 1 2 3 4", "long elements": "RPUSH v %x %x %x %x", "long fields": "HSET v f %x g %x", "long members": "SADD v %x",
}

// ofValues are recipes of a call for a value of each type.
func ofValues(call string) (list []string) {
	for _, prepare := range valuesOf {
		list = append(list, prepare+"; "+call)
	}
	return list
}

const (
	aString  = "SET v %x; "
	aPaged   = "SETRANGE v 0 %x; "
	aList    = "RPUSH v (* e# *); "
	aLong    = "RPUSH v (* xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx# *); "
	aHash    = "HSET v (* f# value *); "
	aSet     = "SADD v (* m# *); "
	aZset    = "ZADD v (* # m# *); "
	aLex     = "ZADD v (* 0 m# *); "
	aGeo     = "GEOADD v (* 1.# 2 m# *); "
	aStream  = "%n*XADD v #-1 f value; "
	aGroup   = aStream + "XGROUP CREATE v g 0; "
	pending  = aGroup + "XREADGROUP GROUP g c STREAMS v >; "
	anArray  = "ARINSERT v (* e# *); "
	ints     = "JSON.SET v $ %ints; "
	strs     = "JSON.SET v $ %strs; "
	rows     = "JSON.SET v $ %rows; "
	obj      = "JSON.SET v $ %obj; "
	ids      = "(* #-1 *)"
	vectors  = "VECTOR.CREATE v DIM 4 METRIC COSINE; %n*VECTOR.ADD v id# VALUES 4 1 2 3 4; "
	wide     = "VECTOR.CREATE v DIM 1536 METRIC COSINE; "
	aLibrary = "FUNCTION LOAD %lib; "
	aKeys    = "MSET (* k# value *); "
)

func commandRecipes() map[string][]string {
	return map[string][]string{
		"copy": ofValues("COPY v d"), "del": append(ofValues("DEL v"), aKeys+"DEL (* k# *)", "DEL (* k# *)"), "unlink": append(ofValues("UNLINK v"), aKeys+"UNLINK (* k# *)"),
		"rename": append(ofValues("RENAME v d"), aString+"SET d %x; RENAME v d"), "renamenx": ofValues("RENAMENX v d"),
		"exists": {"EXISTS (* k# *)", aKeys + "EXISTS (* k# *)"}, "keys": {aKeys + "KEYS *", aKeys + "KEYS k*5", aKeys + "KEYS none"}, "randomkey": {aKeys + "RANDOMKEY", "%n*SET k# v PX 1; RANDOMKEY"},
		"scan": {aKeys + "SCAN 0", aKeys + "SCAN 0 COUNT %n", aKeys + "SCAN 0 COUNT %n MATCH none", aKeys + "SCAN 0 COUNT %n TYPE list"}, "touch": {aKeys + "TOUCH (* k# *)"}, "type": ofValues("TYPE v"),
		"expire": ofValues("EXPIRE v 100"), "expireat": ofValues("EXPIREAT v 2000000000"), "persist": ofValues("PERSIST v"), "pexpire": ofValues("PEXPIRE v 100000"), "pexpireat": append(ofValues("PEXPIREAT v 2000000000000"), ofValues("PEXPIREAT v 1")...),
		"expiretime": ofValues("EXPIRETIME v"), "pexpiretime": ofValues("PEXPIRETIME v"), "pttl": ofValues("PTTL v"), "ttl": ofValues("TTL v"),
		"object encoding": ofValues("OBJECT ENCODING v"), "object refcount": ofValues("OBJECT REFCOUNT v"),
		"sort":    {aList + "SORT v ALPHA", aSet + "SORT v ALPHA", aZset + "SORT v ALPHA", "RPUSH v (* # *); SORT v", "RPUSH v (* # *); SORT v LIMIT 0 1", "RPUSH v (* # *); " + aKeys + "SORT v BY k* ALPHA GET k*", "RPUSH v (* # *); SORT v BY none GET # GET # STORE d", "RPUSH v (* # *); %n*HSET h# f #; SORT v BY h*->f GET h*->f", aList + "SORT v ALPHA STORE d", "RPUSH v 1 2 3 4; SORT v (* GET k# *)", aLong + "SORT v ALPHA"},
		"sort_ro": {aList + "SORT_RO v ALPHA", "RPUSH v (* # *); SORT_RO v DESC", "RPUSH v 1 2 3 4; SORT_RO v (* GET k# *)"},
		"restore": append(ofValues("RESTORE d 0 %dump"), ofValues("SET d 1; RESTORE d 0 %dump REPLACE")...),
		"fcall":   {aLibrary + "FCALL f0 1 v (* x *)", aLibrary + "FCALL f99 0"}, "fcall_ro": {aLibrary + "FCALL_RO f0 0 (* x *)"},
		"function load": {"FUNCTION LOAD %lib", aLibrary + "FUNCTION LOAD REPLACE %lib", "FUNCTION LOAD %longlib"}, "function delete": {aLibrary + "FUNCTION DELETE l"}, "function flush": {aLibrary + "FUNCTION FLUSH"},
		"function list": {aLibrary + "FUNCTION LIST", aLibrary + "FUNCTION LIST WITHCODE", aLibrary + "FUNCTION LIST LIBRARYNAME none"}, "function dump": {aLibrary + "FUNCTION DUMP"},
		"function restore": {aLibrary + "FUNCTION RESTORE %functions REPLACE"},
		"dump":             append(ofValues("DUMP v"), aLong+"DUMP v"),
		"digest":           {aString + "DIGEST v", aPaged + "DIGEST v"}, "get": {aString + "GET v", aPaged + "GET v"}, "if": {aString + "IF v EQ %x", aPaged + "IF v EQ %x", aString + "IF v EXISTS"},
		"lcs":  {"SET a xxxxxxxxxxxxxxxx; SET v %ever; LCS a v", "SET a xexexexexexexexe; SET v %ever; LCS v a IDX", "SET a xexexexexexexexe; SET v %ever; LCS v a LEN"},
		"mget": {aKeys + "MGET (* k# *)", "MGET (* k# *)", aString + "MGET v v v v", aPaged + "MGET v v"}, "strlen": {aString + "STRLEN v", aPaged + "STRLEN v"},
		"append": {aString + "APPEND v y; APPEND v z; APPEND v x", "SET v x; APPEND v %x", aPaged + "APPEND v x", aString + "SETRANGE v 1 x; APPEND v x"}, "getrange": {aString + "GETRANGE v 0 -1", aPaged + "GETRANGE v 0 -1", aString + "GETRANGE v 0 1"},
		"setrange": {aPaged + "SETRANGE v 1 x", "SETRANGE v 0 %x", "SETRANGE v 400%n x"}, "substr": {aString + "SUBSTR v 0 -1", aPaged + "SUBSTR v 0 -1"},
		"mset": {"MSET (* k# v *)", aKeys + "MSET (* k# v *)", "MSET a %x b %x"}, "msetex": {"MSETEX %n (* k# v *) EX 100", "MSETEX 1 k %x"}, "msetnx": {"MSETNX (* k# v *)", "MSETNX k %x"},
		"psetex": {"PSETEX k 1000 %x", aString + "PSETEX v 1000 x"}, "set": {"SET k %x", aString + "SET v x", aString + "SET v x GET", aPaged + "SET v x GET", aString + "SET v x IFEQ %x", aPaged + "SET v x IFEQ %x", aString + "SET v x IFDNE 0000000000000000"}, "setex": {"SETEX k 100 %x"}, "setnx": {"SETNX k %x"},
		"delex": {aString + "DELEX v", aString + "DELEX v IFEQ %x", aString + "DELEX v IFDNE 0000000000000000", aPaged + "DELEX v IFEQ %x", aPaged + "DELEX v IFDNE 0000000000000000"}, "getdel": {aString + "GETDEL v", aPaged + "GETDEL v"},
		"getex": {aString + "GETEX v EX 100", aPaged + "GETEX v EX 100"}, "getset": {aString + "GETSET v x", aPaged + "GETSET v x", "SET v x; GETSET v %x"},
		"decr": {"DECR v"}, "decrby": {"DECRBY v 3"}, "incr": {"INCR v"}, "incrby": {"INCRBY v 3"}, "incrbyfloat": {"INCRBYFLOAT v 3.5"}, "increx": {"INCREX v"},
		"echo": {"ECHO %x"}, "ping": {"PING %x"},
		"command getkeys": {"COMMAND GETKEYS MSET (* k# v *)", "COMMAND GETKEYS EVAL x %n (* k# *)"}, "command getkeysandflags": {"COMMAND GETKEYSANDFLAGS MSET (* k# v *)", "COMMAND GETKEYSANDFLAGS SORT v (* GET k# *)"},
		"command docs": {"COMMAND DOCS (* get *)", "COMMAND DOCS (* none# *)"}, "command info": {"COMMAND INFO (* get *)", "COMMAND INFO (* none# *)"}, "command list": {"COMMAND LIST FILTERBY PATTERN %ever"},
		"config get": {"CONFIG GET (* max* *)", "CONFIG GET (* none# *)"}, "config set": {"CONFIG SET notify-keyspace-events %ever"},
		"info": {"INFO (* server *)", "%n*SET k# v PX 1; INFO", "INFO (* none# *)"}, "dbsize": {aKeys + "DBSIZE", "%n*SET k# v PX 1; DBSIZE"}, "flushall": {aKeys + "FLUSHALL"}, "flushdb": {aKeys + "FLUSHDB"},
		"memory usage": ofValues("MEMORY USAGE v"), "memory stats": {aKeys + "MEMORY STATS"},
		"memory prefixes": {aKeys + "MEMORY PREFIXES 0", aKeys + "MEMORY PREFIXES 0 COUNT %n", aKeys + "MEMORY PREFIXES 0 COUNT %n SEPARATOR 1", aKeys + "MEMORY PREFIXES 0 COUNT %n PREFIX none"},
		"acl deluser":     {"%n*ACL SETUSER u#; ACL DELUSER (* u# *)", "ACL DELUSER (* none# *)"}, "acl setuser": {"ACL SETUSER u (* ~k# *)", "ACL SETUSER u (* ~k# *); ACL SETUSER u on", "ACL SETUSER u (* +get *)", "ACL SETUSER u (* -@all *)", "ACL SETUSER u (* (~k#) *)", "ACL SETUSER u ~%x", "%n*ACL SETUSER u#; ACL SETUSER v on"},
		"acl getuser": {"ACL SETUSER u (* ~k# *); ACL GETUSER u", "ACL SETUSER u (* (~k#) *); ACL GETUSER u"}, "acl list": {"%n*ACL SETUSER u#; ACL LIST", "ACL SETUSER u (* ~k# *); ACL LIST"}, "acl users": {"%n*ACL SETUSER u#; ACL USERS"},
		"acl dryrun": {"ACL SETUSER u +@all (* ~*k#? *); ACL DRYRUN u GET k1x", "ACL SETUSER u +@all ~*; ACL DRYRUN u MGET (* k# *)"},
		"hexists":    {aHash + "HEXISTS v f1"}, "hget": {aHash + "HGET v f1", "HSET v f %x; HGET v f"}, "hmget": {aHash + "HMGET v (* f# *)", aHash + "HMGET v (* none# *)", "HSET v f %x; HMGET v f f f"}, "hstrlen": {"HSET v f %x; HSTRLEN v f"},
		"hgetall": {aHash + "HGETALL v", "HSET v f %x; HGETALL v"}, "hkeys": {aHash + "HKEYS v", "HSET v f %x; HKEYS v"}, "hlen": {aHash + "HLEN v", aHash + "HPEXPIRE v 100000 FIELDS %n (* f# *); HLEN v"}, "hvals": {aHash + "HVALS v"},
		"hrandfield": {aHash + "HRANDFIELD v %n", aHash + "HRANDFIELD v -%n WITHVALUES", "HSET v a 1 b 2; HRANDFIELD v -%n", aHash + "HRANDFIELD v 2"}, "hscan": {aHash + "HSCAN v 0 COUNT %n", aHash + "HSCAN v 0 COUNT %n MATCH none", aHash + "HSCAN v 0 COUNT %n NOVALUES", "HSET v a 1; HSCAN v 0 MATCH %ever", aHash + "HSCAN v 0"},
		"hdel": {aHash + "HDEL v (* f# *)", aHash + "HDEL v (* none# *)", aHash + "HDEL v f1"}, "hincrby": {aHash + "HINCRBY v f 1"}, "hincrbyfloat": {aHash + "HINCRBYFLOAT v f 1.5"}, "hmset": {"HMSET v (* f# v *)", "HMSET v f %x"}, "hset": {"HSET v (* f# v *)", aHash + "HSET v (* f# w *)", "HSET v f %x", aHash + "HSET v f x"}, "hsetnx": {"HSETNX v f %x", aHash + "HSETNX v n x"},
		"hgetdel": {aHash + "HGETDEL v FIELDS %n (* f# *)", "HSET v f %x g 1; HGETDEL v FIELDS 1 f"}, "hgetex": {aHash + "HGETEX v EX 100 FIELDS %n (* f# *)", "HSET v f %x; HGETEX v PERSIST FIELDS 1 f"}, "hsetex": {"HSETEX v EX 100 FIELDS %n (* f# v *)", "HSETEX v FIELDS 1 f %x"},
		"hexpire": {aHash + "HEXPIRE v 100 FIELDS %n (* f# *)", aHash + "HEXPIRE v 100 FIELDS 1 f1"}, "hexpireat": {aHash + "HEXPIREAT v 2000000000 FIELDS %n (* f# *)", aHash + "HEXPIREAT v 1 FIELDS %n (* f# *)"}, "hpersist": {aHash + "HPEXPIRE v 100000 FIELDS %n (* f# *); HPERSIST v FIELDS %n (* f# *)"},
		"hpexpire": {aHash + "HPEXPIRE v 100000 FIELDS %n (* f# *)"}, "hpexpireat": {aHash + "HPEXPIREAT v 2000000000000 FIELDS %n (* f# *)"}, "hexpiretime": {aHash + "HEXPIRETIME v FIELDS %n (* f# *)"}, "hpexpiretime": {aHash + "HPEXPIRETIME v FIELDS %n (* f# *)"}, "hpttl": {aHash + "HPTTL v FIELDS %n (* f# *)"}, "httl": {aHash + "HPEXPIRE v 100000 FIELDS %n (* f# *); HTTL v FIELDS %n (* f# *)"},
		"lpush": {"LPUSH v (* e# *)", "LPUSH v %x", aList + "LPUSH v x"}, "lpushx": {"RPUSH v x; LPUSHX v (* e# *)", "RPUSH v x; LPUSHX v %x"}, "rpush": {"RPUSH v (* e# *)", "RPUSH v %x"}, "rpushx": {"RPUSH v x; RPUSHX v (* e# *)"},
		"lmpop": {aList + "LMPOP 1 v LEFT COUNT %n", aLong + "LMPOP 1 v RIGHT COUNT %n", "LMPOP %n (* k# *) LEFT", aList + "LMPOP 1 v LEFT"}, "lpop": {aList + "LPOP v %n", aLong + "LPOP v %n", aList + "LPOP v", "RPUSH v %x y; LPOP v"}, "rpop": {aList + "RPOP v %n", aLong + "RPOP v %n", aList + "RPOP v"},
		"lmove": {aList + "LMOVE v d LEFT RIGHT", "RPUSH v %x y; LMOVE v d LEFT RIGHT"}, "rpoplpush": {aList + "RPOPLPUSH v d", "RPUSH v y %x; RPOPLPUSH v d"}, "blmove": {aList + "BLMOVE v d LEFT RIGHT 0"}, "blmpop": {aList + "BLMPOP 0 1 v LEFT COUNT %n", "BLMPOP 0 %n (* k# *) LEFT"}, "blpop": {aList + "BLPOP v 0", "BLPOP (* k# *) 0"}, "brpop": {aList + "BRPOP v 0", "BRPOP (* k# *) 0"}, "brpoplpush": {aList + "BRPOPLPUSH v d 0"},
		"lindex": {aList + "LINDEX v 100", aLong + "LINDEX v 100", "RPUSH v %x; LINDEX v 0"}, "llen": {aList + "LLEN v"}, "lpos": {aList + "LPOS v none", aLong + "LPOS v none", aList + "LPOS v e1", "RPUSH v (* x *); LPOS v x COUNT 0", "RPUSH v %x %x; LPOS v %x COUNT 0"},
		"lrange": {aList + "LRANGE v 0 -1", aLong + "LRANGE v 0 -1", aList + "LRANGE v 0 1", aList + "LRANGE v 500 501"}, "linsert": {aList + "LINSERT v BEFORE none x", aList + "LINSERT v BEFORE e100 x", aLong + "LINSERT v BEFORE none x", "RPUSH v a; LINSERT v AFTER a %x", "RPUSH v %x b; LINSERT v AFTER b x"}, "lrem": {aList + "LREM v 0 none", "RPUSH v (* x *) y; LREM v 0 x", aLong + "LREM v 0 none", "RPUSH v %x b; LREM v 0 %x"}, "lset": {aList + "LSET v 100 x", "RPUSH v a; LSET v 0 %x"}, "ltrim": {aList + "LTRIM v 1 -2", aList + "LTRIM v 1 1", "RPUSH v (* e# *) (* f# *); LTRIM v 0 %n", aLong + "LTRIM v 500 -500"},
		"sadd": {"SADD v (* m# *)", "SADD v (* # *)", "SADD v %x", aSet + "SADD v (* m# *)", "SADD v (* # *); SADD v x", aSet + "SADD v x"}, "smove": {aSet + "SMOVE v d m1", "SADD v %x; SMOVE v d %x"}, "spop": {aSet + "SPOP v", aSet + "SPOP v 300", "SADD v (* m# *) (* n# *); SPOP v %n", "SADD v (* m# *); SPOP v %n", "SADD v (* # *); SPOP v", "SADD v %x y; SPOP v"}, "srem": {aSet + "SREM v (* m# *)", aSet + "SREM v (* none# *)", aSet + "SREM v m1", "SADD v (* # *); SREM v 1"}, "scard": {aSet + "SCARD v"}, "sismember": {aSet + "SISMEMBER v m1", "SADD v (* # *); SISMEMBER v 1", "SISMEMBER v %x"}, "smembers": {aSet + "SMEMBERS v", "SADD v %x; SMEMBERS v"}, "smismember": {aSet + "SMISMEMBER v (* m# *)", "SMISMEMBER v (* m# *)"},
		"srandmember": {aSet + "SRANDMEMBER v", aSet + "SRANDMEMBER v %n", aSet + "SRANDMEMBER v -%n", "SADD v a b; SRANDMEMBER v -%n", aSet + "SRANDMEMBER v 2", "SADD v %x; SRANDMEMBER v -4"}, "sscan": {aSet + "SSCAN v 0 COUNT %n", aSet + "SSCAN v 0 COUNT %n MATCH none", "SADD v (* # *); SSCAN v 0", aSet + "SSCAN v 0"},
		"sdiff": ofSets("SDIFF KEYS"), "sdiffcard": ofSets("SDIFFCARD NUM KEYS"), "sinter": ofSets("SINTER KEYS"), "sintercard": ofSets("SINTERCARD NUM KEYS"), "sunion": ofSets("SUNION KEYS"), "sunioncard": append(ofSets("SUNIONCARD NUM KEYS"), aSet+"SUNIONCARD 1 v APPROX"), "sdiffstore": ofSets("SDIFFSTORE d KEYS"), "sinterstore": ofSets("SINTERSTORE d KEYS"), "sunionstore": ofSets("SUNIONSTORE d KEYS"),
		"zadd": {"ZADD v (* # m# *)", aZset + "ZADD v 5 x", "ZADD v 1 %x", aZset + "ZADD v (* 5 m# *)"}, "zincrby": {aZset + "ZINCRBY v 5 m5"}, "zcard": {aZset + "ZCARD v"}, "zmscore": {aZset + "ZMSCORE v (* m# *)", aZset + "ZMSCORE v (* none# *)"}, "zrandmember": {aZset + "ZRANDMEMBER v", aZset + "ZRANDMEMBER v %n", aZset + "ZRANDMEMBER v -%n WITHSCORES", "ZADD v 1 a; ZRANDMEMBER v -%n", aZset + "ZRANDMEMBER v 2"},
		"zscan": {aZset + "ZSCAN v 0 COUNT %n", aZset + "ZSCAN v 0 COUNT %n MATCH none", aZset + "ZSCAN v 0"}, "zscore": {aZset + "ZSCORE v m5"}, "zcount": {aZset + "ZCOUNT v 0 500", aZset + "ZCOUNT v -inf +inf"}, "zlexcount": {aLex + "ZLEXCOUNT v - +", aLex + "ZLEXCOUNT v [m1 [m5"}, "zrank": {aZset + "ZRANK v m5", aLex + "ZRANK v m5"}, "zrevrank": {aZset + "ZREVRANK v m5"},
		"zmpop": {aZset + "ZMPOP 1 v MIN COUNT %n", "ZMPOP %n (* k# *) MIN", aZset + "ZMPOP 1 v MAX"}, "zpopmax": {aZset + "ZPOPMAX v %n", aZset + "ZPOPMAX v"}, "zpopmin": {aZset + "ZPOPMIN v %n", aZset + "ZPOPMIN v"}, "zrem": {aZset + "ZREM v (* m# *)", aZset + "ZREM v m5", aZset + "ZREM v (* none# *)"}, "zremrangebylex": {aLex + "ZREMRANGEBYLEX v - +", aLex + "ZREMRANGEBYLEX v [m1 [m1"}, "zremrangebyrank": {aZset + "ZREMRANGEBYRANK v 0 -2", aZset + "ZREMRANGEBYRANK v 5 5"}, "zremrangebyscore": {aZset + "ZREMRANGEBYSCORE v 1 +inf", aZset + "ZREMRANGEBYSCORE v 5 5"},
		"bzmpop": {aZset + "BZMPOP 0 1 v MIN COUNT %n", "BZMPOP 0 %n (* k# *) MIN"}, "bzpopmax": {aZset + "BZPOPMAX v 0", "BZPOPMAX (* k# *) 0"}, "bzpopmin": {aZset + "BZPOPMIN v 0", "BZPOPMIN (* k# *) 0"},
		"zrange": {aZset + "ZRANGE v 0 -1", aZset + "ZRANGE v 0 -1 WITHSCORES", aZset + "ZRANGE v -inf +inf BYSCORE", aLex + "ZRANGE v - + BYLEX", aLex + "ZRANGE v [m5 [m5 BYLEX", aZset + "ZRANGE v -inf +inf BYSCORE LIMIT %n 1", aZset + "ZRANGE v -inf +inf BYSCORE LIMIT 500 1", aLex + "ZRANGE v - + BYLEX LIMIT 500 1"}, "zrangebylex": {aLex + "ZRANGEBYLEX v - +", aLex + "ZRANGEBYLEX v - + LIMIT 900 1"}, "zrangebyscore": {aZset + "ZRANGEBYSCORE v -inf +inf WITHSCORES", aZset + "ZRANGEBYSCORE v 5 5"}, "zrangestore": {aZset + "ZRANGESTORE d v 0 -1", aZset + "ZRANGESTORE d v 5 5", aLex + "ZRANGESTORE d v - + BYLEX"},
		"zrevrange": {aZset + "ZREVRANGE v 0 -1"}, "zrevrangebylex": {aLex + "ZREVRANGEBYLEX v + -"}, "zrevrangebyscore": {aZset + "ZREVRANGEBYSCORE v +inf -inf"}, "zdiff": ofSorted("ZDIFF NUM KEYS"), "zdiffstore": ofSorted("ZDIFFSTORE d NUM KEYS"), "zinter": ofSorted("ZINTER NUM KEYS"), "zintercard": ofSorted("ZINTERCARD NUM KEYS"), "zinterstore": ofSorted("ZINTERSTORE d NUM KEYS"), "zunion": ofSorted("ZUNION NUM KEYS WITHSCORES"), "zunionstore": ofSorted("ZUNIONSTORE d NUM KEYS"),
		"geoadd": {"GEOADD v (* 1.# 2 m# *)", aGeo + "GEOADD v 1 2 x"}, "geodist": {aGeo + "GEODIST v m1 m2"}, "geohash": {aGeo + "GEOHASH v (* m# *)", "GEOHASH v (* m# *)"}, "geopos": {aGeo + "GEOPOS v (* m# *)"},
		"geosearch":      {aGeo + "GEOSEARCH v FROMLONLAT 1 2 BYRADIUS 10000 KM", aGeo + "GEOSEARCH v FROMLONLAT 1 2 BYBOX 10000 10000 KM ASC WITHCOORD WITHDIST WITHHASH", aGeo + "GEOSEARCH v FROMLONLAT 1 2 BYRADIUS 10000 KM COUNT 1", aGeo + "GEOSEARCH v FROMLONLAT 1 2 BYRADIUS 10000 KM COUNT 1 ANY", aGeo + "GEOSEARCH v FROMLONLAT 1.5 2.1 BYRADIUS 100 M"},
		"geosearchstore": {aGeo + "GEOSEARCHSTORE d v FROMLONLAT 1 2 BYRADIUS 10000 KM", aGeo + "GEOSEARCHSTORE d v FROMLONLAT 1 2 BYRADIUS 10000 KM COUNT 1 ASC"}, "georadius": {aGeo + "GEORADIUS v 1 2 10000 KM", aGeo + "GEORADIUS v 1 2 10000 KM STORE d", aGeo + "GEORADIUS v 1 2 10000 KM WITHCOORD ASC"}, "georadius_ro": {aGeo + "GEORADIUS_RO v 1 2 10000 KM WITHDIST", aGeo + "GEORADIUS_RO v 1 2 10000 KM COUNT 1"}, "georadiusbymember": {aGeo + "GEORADIUSBYMEMBER v m1 10000 KM", aGeo + "GEORADIUSBYMEMBER v m1 10000 KM STOREDIST d"}, "georadiusbymember_ro": {aGeo + "GEORADIUSBYMEMBER_RO v m1 10000 KM"},
		"bitfield": {"BITFIELD v (* SET u8 1#8 255 *)", aString + "BITFIELD v (* GET u8 1#8 *)", aPaged + "BITFIELD v SET u8 0 1", aString + "BITFIELD v GET u8 0", "BITFIELD v INCRBY u8 400%n 1", aPaged + "BITFIELD v GET u8 0"}, "bitfield_ro": {aString + "BITFIELD_RO v (* GET u8 1#8 *)", aPaged + "BITFIELD_RO v GET u8 0"}, "getbit": {aString + "GETBIT v 5", aPaged + "GETBIT v 5"}, "setbit": {"SETBIT v 40%n 1", aPaged + "SETBIT v 5 1"},
		"bitcount": {aString + "BITCOUNT v", aPaged + "BITCOUNT v", aString + "BITCOUNT v 0 1"}, "bitop": {aString + "BITOP OR d v v", aString + "BITOP NOT d v", aPaged + "BITOP XOR d v v", "BITOP OR d (* k# *)", "SET k x; BITOP OR d (* k *)", aString + "SET k x; BITOP DIFF d k v", aString + "BITOP ONE d v v v", aString + "BITOP ANDOR d v v v"}, "bitpos": {"SETRANGE v 64%n x; BITPOS v 1", "SETBIT v 512%n 1; SET w x; BITPOS v 1", aString + "BITPOS v 1"},
		"pfadd": {"PFADD v (* m# *)", "PFADD v %x"}, "pfcount": {"PFADD v a b; PFCOUNT (* v *)", "PFADD v (* m# *); PFCOUNT (* v *)", "PFCOUNT (* k# *)"}, "pfdebug": {"PFADD v (* m# *); PFDEBUG GETREG v"}, "pfmerge": {"PFADD v a b; PFMERGE d (* v *)", "PFMERGE d (* k# *)"},
		"json.clear": {ints + "JSON.CLEAR v $[*]", ints + "JSON.CLEAR v", rows + "JSON.CLEAR v $..b", obj + "JSON.CLEAR v $"}, "json.del": {ints + "JSON.DEL v $", ints + "JSON.DEL v $[*]", obj + "JSON.DEL v $.*", rows + "JSON.DEL v $..a", ints + "JSON.DEL v $[0]", obj + "JSON.DEL v $.k5"}, "json.forget": {ints + "JSON.FORGET v $[*]", obj + "JSON.FORGET v $.k5"},
		"json.get":   {ints + "JSON.GET v", strs + "JSON.GET v $", rows + "JSON.GET v $..a", obj + "JSON.GET v $.k5", obj + "JSON.GET v (* $.k# *)", "JSON.SET v $ \"%x\"; JSON.GET v", ints + "JSON.GET v $[?(@>5)]", ints + "JSON.GET v INDENT %x $[0]", ints + "JSON.GET v INDENT ___ NEWLINE ___ SPACE _", rows + "JSON.GET v $[?(@.a>5&&@.a<7)].b"},
		"json.merge": {ints + "JSON.MERGE v $ %obj", obj + "JSON.MERGE v $ %obj", rows + "JSON.MERGE v $[*] {\"c\":1}", obj + "JSON.MERGE v $ {\"k5\":null}"}, "json.set": {"JSON.SET v $ %ints", "JSON.SET v $ %rows", "JSON.SET v $ \"%x\"", ints + "JSON.SET v $[*] 5", ints + "JSON.SET v $[5] 5", obj + "JSON.SET v $.x 5", rows + "JSON.SET v $..a {\"k\":[1,2]}", ints + "JSON.SET v $ 1", obj + "JSON.SET v $ %obj"},
		"json.mget": {ints + "JSON.MGET v v v $", "JSON.MGET (* k# *) $", "%n*JSON.SET k# $ [1]; JSON.MGET (* k# *) $"}, "json.mset": {"JSON.MSET (* k# $ [1] *)", "JSON.MSET v $ %ints", ints + "JSON.MSET v $[*] 5"}, "json.arrappend": {ints + "JSON.ARRAPPEND v $ 1", "JSON.SET v $ []; JSON.ARRAPPEND v $ (* # *)", rows + "JSON.ARRAPPEND v $..b 5 6", "JSON.SET v $ []; JSON.ARRAPPEND v $ %ints"}, "json.arrindex": {ints + "JSON.ARRINDEX v $ -1", strs + "JSON.ARRINDEX v $ \"none\"", ints + "JSON.ARRINDEX v $ 5", rows + "JSON.ARRINDEX v $..b 5", ints + "JSON.ARRINDEX v $ %ints"}, "json.arrinsert": {ints + "JSON.ARRINSERT v $ 0 1", "JSON.SET v $ [1]; JSON.ARRINSERT v $ 0 (* # *)", rows + "JSON.ARRINSERT v $..b 0 5"}, "json.arrlen": {ints + "JSON.ARRLEN v $", rows + "JSON.ARRLEN v $..b"}, "json.arrpop": {ints + "JSON.ARRPOP v $", ints + "JSON.ARRPOP v $ 0", rows + "JSON.ARRPOP v $..b", "JSON.SET v $ [%ints]; JSON.ARRPOP v $"}, "json.arrtrim": {ints + "JSON.ARRTRIM v $ 0 0", ints + "JSON.ARRTRIM v $ 1 -1", rows + "JSON.ARRTRIM v $..b 0 0"},
		"json.numincrby": {ints + "JSON.NUMINCRBY v $[*] 1", ints + "JSON.NUMINCRBY v $[5] 1", rows + "JSON.NUMINCRBY v $..* 1", obj + "JSON.NUMINCRBY v $.k5 1"}, "json.nummultby": {ints + "JSON.NUMMULTBY v $[*] 2"}, "json.numpowby": {ints + "JSON.NUMPOWBY v $[*] 2"}, "json.strappend": {strs + "JSON.STRAPPEND v $[*] \"x\"", "JSON.SET v $ \"x\"; JSON.STRAPPEND v $ \"%x\"", strs + "JSON.STRAPPEND v $[0] \"%x\"", "JSON.SET v $ \"%x\"; JSON.STRAPPEND v $ \"x\""}, "json.strlen": {strs + "JSON.STRLEN v $[*]", "JSON.SET v $ \"%x\"; JSON.STRLEN v $"}, "json.toggle": {ints + "JSON.TOGGLE v $[*]", "JSON.SET v $ %strs; JSON.SET v $[*] true; JSON.TOGGLE v $[*]"}, "json.debug": {ints + "JSON.DEBUG MEMORY v", ints + "JSON.DEBUG MEMORY v $[*]", rows + "JSON.DEBUG MEMORY v $..*"}, "json.objkeys": {obj + "JSON.OBJKEYS v $", rows + "JSON.OBJKEYS v $[*]"}, "json.objlen": {obj + "JSON.OBJLEN v $", rows + "JSON.OBJLEN v $[*]"}, "json.resp": {ints + "JSON.RESP v", rows + "JSON.RESP v", strs + "JSON.RESP v $[*]"}, "json.type": {ints + "JSON.TYPE v $[*]", rows + "JSON.TYPE v $..*"},
		"arget": {anArray + "ARGET v 5", "ARSET v 0 %x; ARGET v 0"}, "armget": {anArray + "ARMGET v (* # *)", "ARSET v 0 %x; ARMGET v 0 0 0"}, "armset": {"ARMSET v (* # x *)", "ARMSET v 1 %x", "ARMSET v (* #00 x *)"}, "arset": {"ARSET v 0 (* x# *)", "ARSET v 0 %x", anArray + "ARSET v 5 x"}, "arinsert": {"ARINSERT v (* x# *)", "ARINSERT v %x"}, "ardel": {anArray + "ARDEL v (* # *)", anArray + "ARDEL v 5"}, "ardelrange": {anArray + "ARDELRANGE v 0 %n", anArray + "ARDELRANGE v 5 5", anArray + "ARDELRANGE v (* # # *)", "ARSET v 0 x; ARDELRANGE v (* 5 900# *)"},
		"argetrange": {anArray + "ARGETRANGE v 0 %n", "ARSET v 0 x; ARGETRANGE v 0 %n"}, "argrep": {anArray + "ARGREP v - + EXACT e5", anArray + "ARGREP v - + MATCH e WITHVALUES", anArray + "ARGREP v - + GLOB *5*", anArray + "ARGREP v - + RE e.5", "ARINSERT v %x; ARGREP v - + MATCH xxxxxxxxxxxxy", "ARINSERT v %x; ARGREP v - + NOCASE MATCH xxxxxxxxxxxxy"}, "arlastitems": {anArray + "ARLASTITEMS v %n", anArray + "ARLASTITEMS v %n REV", anArray + "ARLASTITEMS v 1"}, "arscan": {anArray + "ARSCAN v 0 %n", anArray + "ARSCAN v 0 %n LIMIT 1"}, "arcount": {anArray + "ARCOUNT v"}, "arinfo": {anArray + "ARINFO v", anArray + "ARINFO v FULL"}, "arlen": {anArray + "ARLEN v"}, "arnext": {anArray + "ARNEXT v"}, "arring": {anArray + "ARRING v %n x", anArray + "ARRING v 5 x", "ARRING v %n (* x# *)"}, "arseek": {anArray + "ARSEEK v 5"}, "arop": {"ARINSERT v (* # *); AROP v 0 %n SUM", "ARINSERT v (* # *); AROP v 0 %n MAX", "ARINSERT v (* # *); AROP v 0 %n XOR", anArray + "AROP v 0 %n USED", anArray + "AROP v 0 %n MATCH e5", "ARINSERT v %x %x; AROP v 0 5 MATCH %x"},
		"vector.drop": {vectors + "VECTOR.DROP v"}, "vector.info": {vectors + "VECTOR.INFO v"}, "vector.add": {vectors + "VECTOR.ADD v y VALUES 4 1 2 3 4; VECTOR.ADD v x VALUES 4 1 2 3 4", "VECTOR.CREATE v DIM %n METRIC COSINE; VECTOR.ADD v x VALUES %n (* 1.5 *)"}, "vector.count": {vectors + "VECTOR.COUNT v"}, "vector.del": {vectors + "VECTOR.DEL v id5"}, "vector.get": {vectors + "VECTOR.GET v id5", "VECTOR.CREATE v DIM %n METRIC COSINE; VECTOR.ADD v x VALUES %n (* 1.5 *); VECTOR.GET v x"}, "vector.query": {vectors + "VECTOR.QUERY v TOPK 1 VALUES 4 1 2 3 4", "VECTOR.CREATE v DIM %n METRIC COSINE; VECTOR.ADD v x VALUES %n (* 1.5 *); VECTOR.QUERY v TOPK 1 VALUES %n (* 1.5 *)"},
		"xadd": {"XADD v * (* f# v *)", "XADD v * f %x", aStream + "XADD v * f x", aStream + "XADD v MAXLEN 1 * f x", aGroup + "XADD v * f x"}, "xdel": {aStream + "XDEL v " + ids, aStream + "XDEL v 5-1"}, "xdelex": {aStream + "XDELEX v IDS %n " + ids, pending + "XDELEX v DELREF IDS %n " + ids, aStream + "%n*XGROUP CREATE v g# 0; XDELEX v DELREF IDS 1 5-1"}, "xtrim": {aStream + "XTRIM v MAXLEN 0", aStream + "XTRIM v MINID 5", pending + "XTRIM v MAXLEN 0 DELREF"}, "xlen": {aStream + "XLEN v"}, "xrange": {aStream + "XRANGE v - +", aStream + "XRANGE v - + COUNT 5", "XADD v * f %x; XRANGE v - +", aStream + "XRANGE v 500 501"}, "xrevrange": {aStream + "XREVRANGE v + -", aStream + "XREVRANGE v + - COUNT 5"}, "xread": {aStream + "XREAD STREAMS v 0", aStream + "XREAD COUNT 5 STREAMS v 0", "XADD v 1 a b; XREAD STREAMS (* v *) (* 0 *)", aStream + "XREAD STREAMS v $"},
		"xreadgroup": {aGroup + "XREADGROUP GROUP g c STREAMS v >", aGroup + "XREADGROUP GROUP g c NOACK STREAMS v >", pending + "XREADGROUP GROUP g c STREAMS v 0", aGroup + "XREADGROUP GROUP g c COUNT 5 STREAMS v >"}, "xautoclaim": {pending + "XAUTOCLAIM v g d 0 0 COUNT %n", pending + "XAUTOCLAIM v g d 0 0 COUNT %n JUSTID", pending + "XAUTOCLAIM v g d 0 0 COUNT 5", pending + "XDEL v " + ids + "; XAUTOCLAIM v g d 0 0 COUNT %n", pending + "XAUTOCLAIM v g d 99999 0 COUNT %n"}, "xclaim": {pending + "XCLAIM v g d 0 " + ids, pending + "XCLAIM v g d 0 " + ids + " JUSTID", aGroup + "XCLAIM v g d 0 " + ids + " FORCE"}, "xnack": {pending + "XNACK v g FAIL IDS %n " + ids}, "xpending": {pending + "XPENDING v g", pending + "XPENDING v g - + %n", pending + "XPENDING v g IDLE 99999 - + 5", pending + "XREADGROUP GROUP g d STREAMS v >; XPENDING v g - + 5 d", aGroup + "%n*XREADGROUP GROUP g c# COUNT 1 STREAMS v >; XPENDING v g"}, "xack": {pending + "XACK v g " + ids, pending + "XACK v g 5-1"}, "xackdel": {pending + "XACKDEL v g IDS %n " + ids},
		"xgroup create": {aStream + "XGROUP CREATE v g 0", aStream + "XGROUP CREATE v g 500", aStream + "%n*XGROUP CREATE v g# 0; XGROUP CREATE v h 0"}, "xgroup createconsumer": {aGroup + "%n*XGROUP CREATECONSUMER v g c#; XGROUP CREATECONSUMER v g x"}, "xgroup delconsumer": {pending + "XGROUP DELCONSUMER v g c", aGroup + "%n*XGROUP CREATECONSUMER v g c#; XGROUP DELCONSUMER v g c5"}, "xgroup destroy": {pending + "XGROUP DESTROY v g", aGroup + "%n*XGROUP CREATECONSUMER v g c#; XGROUP DESTROY v g"}, "xgroup setid": {aGroup + "XGROUP SETID v g 500"}, "xinfo consumers": {aGroup + "%n*XGROUP CREATECONSUMER v g c#; XINFO CONSUMERS v g"}, "xinfo groups": {aStream + "%n*XGROUP CREATE v g# 0; XINFO GROUPS v", aStream + "%n*XGROUP CREATE v g# #; XINFO GROUPS v"}, "xinfo stream": {pending + "XINFO STREAM v", pending + "XINFO STREAM v FULL", pending + "XINFO STREAM v FULL COUNT 0", aStream + "%n*XGROUP CREATE v g# 0; XINFO STREAM v FULL COUNT 1", aGroup + "%n*XGROUP CREATECONSUMER v g c#; XINFO STREAM v FULL COUNT 1"}, "xcfgset": {"%n*XADD v IDMP p i# * f x; XCFGSET v IDMP-MAXSIZE 1"}, "xsetid": {aStream + "XSETID v 99999999-1"},
		"publish": {"PUBLISH c %x"}, "spublish": {"SPUBLISH c %x"},
		"cluster countkeysinslot": {aKeys + "CLUSTER COUNTKEYSINSLOT 5"}, "cluster getkeysinslot": {"MSET (* {k}# v *); CLUSTER GETKEYSINSLOT 7629 %n"}, "cluster keyslot": {"CLUSTER KEYSLOT %x"},
		"msg.cancel": {"%n*MSG.PUBLISH http://x/ b; MSG.CANCEL (* msg_# *)"}, "msg.enqueue": {"MSG.ENQUEUE q http://x/ %x", "%n*MSG.ENQUEUE q http://x/ b; MSG.ENQUEUE q http://x/ b"}, "msg.publish": {"MSG.PUBLISH http://x/ %x", "%n*MSG.PUBLISH http://x/ b; MSG.PUBLISH http://x/ b"}, "wf.cancel": {"WF.CANCEL (* none# *)", "%n*WF.TRIGGER http://x/ b RUN r#; WF.CANCEL (* wfr_r# *)"}, "wf.notify": {"WF.NOTIFY e %x", "WF.TRIGGER http://x/ b RUN r; WF.NOTIFY e %x RUN wfr_r"}, "wf.trigger": {"WF.TRIGGER http://x/ %x"},
		"trigger.set": {"TRIGGER.SET t v VALUES old,new MESSAGE http://x/; SET v %x", "TRIGGER.SET t k VALUES new MESSAGE http://x/; MSET (* k# value *)", "TRIGGER.SET t k STREAM log; MSET (* k# value *)", "TRIGGER.SET t v VALUES old,new STREAM log; HSET v (* f# v *)", aHash + "TRIGGER.SET t v VALUES old,new RUN http://x/; HSET v f5 x", "TRIGGER.SET t v TYPES string STREAM log; " + aList + "DEL v"}, "trigger.get": {"TRIGGER.SET t v LANES 64 MESSAGE http://x/; TRIGGER.GET t"}, "trigger.list": {"TRIGGER.SET t v MESSAGE http://x/; TRIGGER.LIST"}, "trigger.del": {"TRIGGER.SET t v MESSAGE http://x/; %n*SET v x; TRIGGER.DEL t"}, "trigger.pause": {"TRIGGER.SET t v MESSAGE http://x/; %n*SET v x; TRIGGER.PAUSE t"}, "trigger.resume": {"TRIGGER.SET t v MESSAGE http://x/; %n*SET v x; TRIGGER.PAUSE t; TRIGGER.RESUME t"},
		"eval": {"EVAL return(1) %n (* k# *)", "EVAL return(ARGV[1]) 0 (* a# *)", "EVAL return(KEYS) %n (* k# *)", "EVAL return(\"%x\") 0", aList + "EVAL return(redis.call('lrange','v',0,-1)) 0", "EVAL for%_i=1,%n%_do%_redis.call('set','k','v')%_end 0"}, "eval_ro": {"EVAL_RO return(KEYS) %n (* k# *)", "EVAL_RO return(\"%x\") 0"}, "script exists": {"SCRIPT EXISTS (* x# *)"}, "script flush": {"%n*SCRIPT LOAD return(#); SCRIPT FLUSH"}, "script load": {"SCRIPT LOAD return(\"%x\")", "%n*SCRIPT LOAD return(#); SCRIPT LOAD return(x)"},
	}
}

// ofSets are recipes of a combination of sets, in the number of sets and of members.
func ofSets(call string) []string { return combined(call, "SADD", "") }

func ofSorted(call string) []string { return combined(call, "ZADD", "1 ") }

func combined(call, add, score string) (list []string) {
	with := func(prepare, num, keys string) {
		list = append(list, prepare+strings.NewReplacer("NUM", num, "KEYS", keys).Replace(call))
	}
	members, others := add+" v (* "+score+"m# *); ", add+" w (* "+score+"n# *); "
	with(members, "2", "v v")
	with(members+others, "2", "v w")
	with(members+add+" w "+score+"m5; ", "2", "w v")
	with(members+add+" w "+score+"m5; ", "2", "v w")
	with(members, "2", "v none")
	with(members, "2", "none v")
	with(add+" v "+score+"a "+score+"b; ", "%n", "(* v *)")
	with("", "%n", "(* k# *)")
	return list
}

// rowsApart are rows without a recipe, by why they need none.
func rowsApart() map[string]string {
	apart := map[string]string{}
	for why, names := range map[string]string{
		"it belongs to a connection":                                                               "auth,hello,select,reset,quit,client getname,client setname,client setinfo,client id,client info,client no-evict,client no-touch,client reply,client caching,client getredir,client tracking,client trackinginfo,discard,exec,multi,unwatch,watch,monitor,psubscribe,punsubscribe,subscribe,unsubscribe,ssubscribe,sunsubscribe,asking,readonly,readwrite",
		"it tells of the node, and changes nothing in the log":                                     "client kill,client list,client pause,client unblock,client unpause,object idletime,object freq,role,latency doctor,latency graph,latency histogram,latency history,latency latest,latency reset,slowlog get,slowlog len,slowlog reset,config resetstat,memory doctor,memory malloc-stats,acl log,pubsub channels,pubsub numpat,pubsub numsub,pubsub shardchannels,pubsub shardnumsub,cluster info,cluster links,cluster myid,cluster myshardid,cluster nodes,cluster replicas,cluster shards,cluster slots",
		"it does the same however much there is":                                                   "move,wait,waitaof,object help,command,command count,command help,client help,config help,lastsave,lolwut,swapdb,time,latency help,slowlog help,debug,shutdown,bgrewriteaof,bgsave,config rewrite,memory purge,module list,save,memory help,acl whoami,acl cat,acl genpass,acl gentoken,acl resttoken,acl help,acl load,acl save,pfselftest,vector.create,xgroup help,xinfo help,pubsub help,cluster help,script debug,script help,script kill,function help,function kill,function stats",
		"a database has at most 100 indexes and aliases, and an index 256 fields and 100 prefixes": "search.create,search.describe,search.drop,search.listindexes,search.reindex,search.waitindexing,search.aliasadd,search.aliasdel,search.listaliases",
		"node/searchindex TestSearchesHaveABudgetAndAnEnd":                                         "search.aggregate,search.count,search.query",
		"recipes of EVAL and of EVAL_RO run the same":                                              "evalsha,evalsha_ro",
		"it shows one text that a client has stored":                                               "script show,msg.get",
	} {
		for _, name := range strings.Split(names, ",") {
			apart[name] = why
		}
	}
	return apart
}
