package spectest

import "testing"

// works makes sure that a command of a family answers 200; K stands for a fresh key.
func works(id string, commands ...[]any) claim {
	return claim{id, func(t *testing.T, w *world) {
		k := w.key()
		for _, c := range commands {
			if a := w.array(t, withKey(c, k)...); a.status != 200 {
				t.Errorf("%v: %d %s", c, a.status, a.body)
			}
		}
	}}
}

// unsupported makes sure that commands are refused at every endpoint.
func unsupported(id string, commands ...[]any) claim {
	return claim{id, func(t *testing.T, w *world) {
		k := w.key()
		for _, c := range commands {
			w.array(t, withKey(c, k)...).fails(t, 400, "ERR ")
		}
	}}
}

func withKey(words []any, key string) []any {
	words = append([]any(nil), words...)
	for i, word := range words {
		if word == "K" {
			words[i] = key
		}
	}
	return words
}

type words = []any

var families = []claim{
	works("KV-C.1", words{"SET", "K", "v"}, words{"APPEND", "K", "w"}, words{"GETRANGE", "K", 0, 1}, words{"STRLEN", "K"}, words{"GETDEL", "K"}),
	works("KV-C.2", words{"SETBIT", "K", 7, 1}, words{"GETBIT", "K", 7}, words{"BITCOUNT", "K"}, words{"BITPOS", "K", 1}),
	works("KV-C.3", words{"HSET", "K", "f", "v"}, words{"HGET", "K", "f"}, words{"HGETALL", "K"}, words{"HDEL", "K", "f"}),
	works("KV-C.4", words{"SADD", "K", "a", "b"}, words{"SMEMBERS", "K"}, words{"SISMEMBER", "K", "a"}, words{"SREM", "K", "a"}),
	works("KV-C.5", words{"GEOADD", "K", 13.36, 38.11, "p"}, words{"GEOPOS", "K", "p"}, words{"GEODIST", "K", "p", "p"}),
	works("KV-C.6", words{"PFADD", "K", "a", "b"}, words{"PFCOUNT", "K"}, words{"PFMERGE", "K", "K"}),
	works("KV-C.7", words{"SET", "K", "v"}, words{"EXISTS", "K"}, words{"EXPIRE", "K", 100}, words{"TTL", "K"}, words{"TYPE", "K"}, words{"DEL", "K"}),
	works("KV-C.8", words{"DBSIZE"}, words{"TIME"}, words{"INFO"}, words{"COMMAND"}, words{"CONFIG", "GET", "*"}),
	works("KV-C.9", words{"EVAL", "return 1", 0}, words{"EVAL_RO", "return 1", 0}, words{"SCRIPT", "LOAD", "return 2"}, words{"EVALSHA", "7f923f79fe76194c868d7e1d0820de36700eb649", 0},
		words{"SCRIPT", "EXISTS", "7f923f79fe76194c868d7e1d0820de36700eb649"}, words{"FUNCTION", "LIST"}, words{"SCRIPT", "FLUSH"}),
	works("KV-C.10", words{"JSON.SET", "K", "$", `{"a":1}`}, words{"JSON.GET", "K", "$.a"}, words{"JSON.DEL", "K"}),
	works("KV-C.11", words{"CLUSTER", "INFO"}, words{"CLUSTER", "SLOTS"}, words{"CLUSTER", "KEYSLOT", "K"}),
	works("KV-C.12", words{"RPUSH", "K", "a", "b"}, words{"LRANGE", "K", 0, -1}, words{"LPOP", "K"}, words{"LLEN", "K"}),
	unsupported("KV-C.13", words{"BLPOP", "K", 0}, words{"BRPOP", "K", 0}, words{"BRPOPLPUSH", "K", "K", 0}),
	works("KV-C.14", words{"ZADD", "K", 1, "a"}, words{"ZRANGE", "K", 0, -1}, words{"ZSCORE", "K", "a"}, words{"ZPOPMIN", "K"}),
	unsupported("KV-C.15", words{"BZPOPMAX", "K", 0}, words{"BZPOPMIN", "K", 0}),
	{"KV-C.16", func(t *testing.T, w *world) {
		k := w.key()
		w.ask(t, "POST", "/multi-exec", `[["SET","`+k+`","v"],["GET","`+k+`"]]`).is(t, 200, `[{"result":"OK"},{"result":"v"}]`)
	}},
	unsupported("KV-C.17", words{"WATCH", "K"}, words{"UNWATCH"}, words{"DISCARD"}),
	works("KV-C.18", words{"PUBLISH", "K", "m"}, words{"PUBSUB", "CHANNELS"}, words{"PUBSUB", "NUMSUB", "K"}, words{"PUBSUB", "NUMPAT"}),
	unsupported("KV-C.19", words{"SUBSCRIBE", "K"}, words{"UNSUBSCRIBE", "K"}, words{"PSUBSCRIBE", "K"}, words{"PUNSUBSCRIBE", "K"}),
	works("KV-C.20", words{"PING"}, words{"PING", "x"}, words{"ECHO", "x"}),
	unsupported("KV-C.21", words{"AUTH", "x"}, words{"SELECT", 0}, words{"HELLO", 3}, words{"QUIT"}, words{"RESET"}, words{"CLIENT", "LIST"}),
	works("KV-C.22", words{"XADD", "K", "*", "f", "v"}, words{"XLEN", "K"}, words{"XRANGE", "K", "-", "+"}, words{"XREVRANGE", "K", "+", "-"}, words{"XREAD", "STREAMS", "K", 0},
		words{"XGROUP", "CREATE", "K", "g", 0}, words{"XGROUP", "CREATECONSUMER", "K", "g", "c"}, words{"XREADGROUP", "GROUP", "g", "c", "STREAMS", "K", ">"}, words{"XPENDING", "K", "g"},
		words{"XPENDING", "K", "g", "-", "+", 9}, words{"XCLAIM", "K", "g", "d", 0, "1-1"}, words{"XAUTOCLAIM", "K", "g", "d", 0, 0}, words{"XACK", "K", "g", "1-1"}, words{"XACKDEL", "K", "g", "IDS", 1, "1-1"},
		words{"XINFO", "STREAM", "K"}, words{"XINFO", "STREAM", "K", "FULL"}, words{"XINFO", "GROUPS", "K"}, words{"XINFO", "CONSUMERS", "K", "g"}, words{"XTRIM", "K", "MAXLEN", "~", 5}, words{"XDEL", "K", "1-1"},
		words{"XDELEX", "K", "IDS", 1, "1-1"}, words{"XSETID", "K", "9999999999999-0"}, words{"XGROUP", "SETID", "K", "g", "$"}, words{"XGROUP", "DELCONSUMER", "K", "g", "c"}, words{"XGROUP", "DESTROY", "K", "g"}),
	unsupported("KV-C.23", words{"XREAD", "BLOCK", 10, "STREAMS", "K", 0}, words{"XREADGROUP", "GROUP", "g", "c", "BLOCK", 10, "STREAMS", "K", ">"}),
}
