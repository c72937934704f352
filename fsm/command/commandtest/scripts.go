package commandtest

import (
	"crypto/sha1"
	"fmt"
	"strings"
)

// calls are programs that run the command in their arguments.
var calls = []string{
	"return redis.call(unpack(ARGV))",
	"return redis.call(unpack(ARGV))",
	"return redis.pcall(unpack(ARGV))",
	"local ok, e = pcall(redis.call, unpack(ARGV)) if ok then return type(e) end return type(e) == 'table' and e.err or tostring(e)",
	"local r = redis.pcall(unpack(ARGV)) if type(r) == 'table' and r.err then return {'failed', r.err} end return {r, type(r)}",
	"redis.setresp(3) return redis.call(unpack(ARGV))",
	"redis.setresp(3) local r = redis.call(unpack(ARGV)) return type(r) == 'table' and (r.map and 'map' or r.set and 'set' or r.double and 'double' or #r) or type(r)",
	"return {redis.call('TYPE', 'key:310'), {redis.pcall(unpack(ARGV))}, 1.7, false, true, 'end'}",
	"redis.call('INCR', 'calls') return redis.call(unpack(ARGV))",
	"for i = 1, 3 do redis.pcall(unpack(ARGV)) end return redis.call(unpack(ARGV))",
	"return redis.acl_check_cmd(unpack(ARGV))",
	"#!lua\nreturn redis.call(unpack(ARGV))",
	"#!lua flags=no-writes\nreturn redis.call(unpack(ARGV))",
	"#!lua flags=allow-oom,allow-stale\nreturn redis.pcall(unpack(ARGV))",
}

// keyed are programs on two keys and three arguments.
var keyed = []string{
	"redis.call('SET', KEYS[1], ARGV[1]) return redis.call('GET', KEYS[1])",
	"local v = redis.call('GET', KEYS[1]) if not v then return redis.call('SET', KEYS[1], ARGV[1]) end return v .. ARGV[2]",
	"local n = 0 for i = 1, 20 do n = n + redis.call('INCR', KEYS[1]) end return n",
	"for i = 1, 10 do redis.call('RPUSH', KEYS[2], i * 1.5) end return redis.call('LRANGE', KEYS[2], 0, -1)",
	"redis.call('RPUSH', KEYS[2], ARGV[1], ARGV[2]) error('stop')",
	"redis.call('SET', KEYS[1], 'x') redis.call('LPUSH', KEYS[1], 'y')",
	"local t = redis.call('TYPE', KEYS[1]).ok if t == 'string' then return redis.call('STRLEN', KEYS[1]) end return {t, redis.call('TTL', KEYS[1])}",
	"redis.call('DEL', KEYS[1]) redis.call('HSET', KEYS[1], ARGV[1], 1, ARGV[2], 2) return redis.call('HLEN', KEYS[1])",
	"return {KEYS[1], KEYS[2], ARGV[1], ARGV[2], ARGV[3], ARGV[4], #KEYS, #ARGV}",
	"local a = {} for i = 1, 50 do a[#a + 1] = i a[#a + 1] = 'm' .. i end redis.call('DEL', KEYS[1]) redis.call('ZADD', KEYS[1], unpack(a)) return redis.call('ZRANGE', KEYS[1], 0, -1, 'WITHSCORES')",
	"redis.call('DEL', KEYS[2]) redis.call('XADD', KEYS[2], '1-1', 'f', ARGV[1]) return redis.call('XRANGE', KEYS[2], '-', '+')",
	"return redis.status_reply(ARGV[1])", "return redis.error_reply(ARGV[1])", "return redis.error_reply('MY ' .. KEYS[1])", "return {err = ARGV[1]}", "return {ok = ARGV[2]}", "return {1, 2, nil, 4}", "return {double = 3.5}", "return {1, {2, {3, {4.9}}}, {}}",
	"return redis.sha1hex(ARGV[1])", "return tonumber(ARGV[3]) + 1", "return ARGV[3] * 2", "return ARGV[1] < ARGV[2]", "return #ARGV[1] .. ':' .. ARGV[1]:upper()", "return nil", "return false", "return true", "return -1.9", "return 2^53", "return 1e300", "return '1' + 1",
	"return cjson.encode({a = ARGV[1], n = tonumber(ARGV[3]) or cjson.null, l = {1, 2, 3}, e = {}})", "return cmsgpack.unpack(cmsgpack.pack(ARGV[1], ARGV[3]))", "return struct.pack('>I2i4s', 7, -9, ARGV[2])", "return {struct.unpack('<I2h', 'abcd')}",
	"return bit.tohex(bit.bxor(tonumber(ARGV[3]) or 1, 0xff))", "return string.format('%5.2f|%-6s|%05d|%x', 3.14159, ARGV[1], 42, 255)", "return redis.call('SET', KEYS[1])", "return redis.call('NOSUCH', KEYS[1])", "return redis.call('GET', KEYS[1], KEYS[2])",
	"return redis.call('SET', KEYS[1], {})", "return redis.call()", "return nothing.at.all", "x = 1", "if", "return redis.call('MULTI')", "return redis.call('SUBSCRIBE', 'a')", "return redis.call('EVAL', 'return 1', 0)", "return redis.call('CONFIG', 'GET', '*')", "error({err = 'MINE it is'})", "error()",
	"redis.log(redis.LOG_WARNING, 'x') return redis.LOG_NOTICE", "redis.set_repl(redis.REPL_ALL) return redis.replicate_commands()", "redis.setresp(5)", "return redis.REPL_ALL", "return redis.breakpoint()",
	"local s = '' for w in ARGV[1]:gmatch('%w+') do s = s .. w .. ';' end return s", "return {ARGV[1]:find(ARGV[2], 1, true)}", "return table.concat({ARGV[1], ARGV[2], ARGV[3]}, KEYS[1])", "local t = {5, 3, 9, 1} table.sort(t, function(a, b) return a > b end) return t",
}

// chancy are programs whose replies only have to be alike on replicas: they draw, walk in
// an order of their own, or spend their budget after they have written.
var chancy = []string{
	"return {math.random(100), math.random(), redis.call('SPOP', KEYS[1]), redis.call('SRANDMEMBER', KEYS[1], -3), redis.call('RANDOMKEY')}",
	"redis.call('SET', KEYS[1], redis.call('TIME')[1] .. math.random(1e9)) return redis.call('GET', KEYS[1])",
	"local o = {} for k, v in pairs({a = 1, b = 2, [{}] = 3, [1.5] = 4}) do o[#o + 1] = v end return o",
	"return redis.call('HGETALL', KEYS[1])", "return redis.call('SMEMBERS', KEYS[1])", "return redis.call('KEYS', '*')", "return redis.call('SCAN', 0)",
	"for i = 1, 30 do redis.call('SADD', KEYS[2], math.random(1000)) end return redis.call('SPOP', KEYS[2], 5)",
	"redis.call('XADD', KEYS[2], '*', 'f', ARGV[1]) return redis.call('XLEN', KEYS[2])", "redis.call('JSON.SET', KEYS[2], '$', '{\"a\":[1,2]}') return redis.call('JSON.GET', KEYS[2], '$..a')",
	"error({})", "return tostring({}) .. tostring(print) .. collectgarbage('count') .. os.clock()",
}

// endless are programs that use up their budget: what they did is undone.
var endless = []string{
	"redis.call('SET', KEYS[1], 'never') while true do end", "redis.call('DEL', KEYS[1], KEYS[2]) local s = 'x' while true do s = s .. s end", "while true do redis.call('RPUSH', KEYS[2], ARGV[1]) end",
	"redis.call('SPOP', KEYS[1]) redis.call('JSON.SET', KEYS[2], '$', '1') return ('a'):rep(5000):find('.-.-.-.-b')",
}

// script is a command that runs a script, or is about some.
func (s Source) script() [][]byte {
	switch n := s.IntN(20); {
	case n == 0:
		return words("SCRIPT", "EXISTS", sha(s.pick(keyed...)), sha(s.pick(calls...)))
	case n == 1:
		return words("SCRIPT", "LOAD", s.pick(keyed...))
	case n == 2 && s.IntN(20) == 0:
		return words("SCRIPT", "FLUSH", s.pick("SYNC", "ASYNC"))
	case n < 9:
		return append(s.run(s.pick(calls...), "0"), s.within()...)
	case n < 12:
		return s.run(Lua{s.Rand}.Shown(), "0")
	case n < 14 && s.Fits == nil:
		return s.run(s.pick(chancy...), "2", draw(s.Rand, s.pick("k", "sk", "hk")), draw(s.Rand, s.pick("sk", "xs", "K")), draw(s.Rand, "el"))
	case n == 14 && s.Fits == nil && s.IntN(200) == 0:
		return s.run(s.pick(endless...), "2", draw(s.Rand, "sk"), draw(s.Rand, "lk"), draw(s.Rand, "el"))
	}
	return s.run(s.pick(keyed...), "2", draw(s.Rand, s.pick("k", "k", "hk", "sk")), draw(s.Rand, s.pick("lk", "lk", "k", "xs")), draw(s.Rand, "el"), draw(s.Rand, "v"), draw(s.Rand, s.pick("n", "f", "s")))
}

// run is a program called in one of the four ways.
func (s Source) run(program string, more ...string) [][]byte {
	name := "EVAL"
	if s.IntN(4) == 0 {
		name, program = "EVALSHA", sha(program)
	}
	if s.IntN(8) == 0 {
		name += "_RO"
		if name == "EVAL_RO" {
			program += " -- reads" // so that nothing else calls it: it is not kept here
		}
	}
	return words(append([]string{name, program}, more...)...)
}

// library is the text of a library of functions, sometimes a wrong one.
func (s Source) library() string {
	name, f := draw(s.Rand, "lb"), draw(s.Rand, "fn")
	body := strings.NewReplacer("KEYS", "keys", "ARGV", "args").Replace(s.pick(keyed...))
	switch s.IntN(12) {
	case 0:
		return s.pick("return 1", "#!lua\nreturn 1", "#!nothing name=x\n", "#!lua name=bad-name\n", "#!lua name="+name+" other=1\n", "#!lua name="+name, "#!lua name="+name+"\nif", "#!lua name="+name+"\nreturn 1", "#!lua name="+name+" name=x\nreturn 1",
			"#!lua name="+name+"\nredis.call('PING')", "#!lua name="+name+"\nerror('no')", "#!lua name="+name+"\nredis.register_function('f-1', function() end)", "#!lua name="+name+"\nredis.register_function('"+f+"')",
			"#!lua name="+name+"\nredis.register_function{function_name='"+f+"', callback=function() end, flags={'nothing'}}", "#!lua name="+name+"\nlocal function g() end redis.register_function('"+f+"', g) redis.register_function('"+f+"', g)", "#!lua name="+name+"\nx = 1")
	case 1, 2:
		return fmt.Sprintf("#!lua name=%s\nredis.register_function{function_name='%s', callback=function(keys, args) %s end, flags={'no-writes'}, description='reads'}", name, f, body)
	case 3:
		if s.Fits != nil {
			break // what a call leaves in its variables no other sees here
		}
		return fmt.Sprintf("#!lua name=%s\nlocal n = 0 redis.register_function('%s', function(keys, args) n = n + 1 return n end) redis.register_function('%sx', function() return n end)", name, f, f)
	}
	return fmt.Sprintf("#!lua name=%s\nredis.register_function('%s', function(keys, args) %s end)", name, f, body)
}

func words(list ...string) (argv [][]byte) {
	for _, w := range list {
		argv = append(argv, []byte(w))
	}
	return argv
}

// sha is the name of a program for EVALSHA.
func sha(program string) string { return fmt.Sprintf("%x", sha1.Sum([]byte(program))) }
