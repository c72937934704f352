package script

import "strings"

// recipe is one way to give something more and more. Its program has n and returns the function that is measured.
type recipe struct {
	n   int // the smallest size, 1000 for 0
	lua string
}

// of are recipes at the usual sizes.
func of(programs ...string) (list []recipe) {
	for _, p := range programs {
		list = append(list, recipe{lua: p})
	}
	return list
}

// at are recipes at sizes of n, 2n and 4n.
func at(n int, programs ...string) (list []recipe) {
	for _, p := range programs {
		list = append(list, recipe{n, p})
	}
	return list
}

// long are recipes with long texts: what is read many bytes at a time doesn't show with short ones.
func long(programs ...string) []recipe { return at(50_000, programs...) }

// each is a function that does something once, or ten times if it is one expression.
func each(work string) string {
	if value, one := strings.CutPrefix(work, "return "); one {
		work = "for i = 1, 10 do local x = " + value + " end"
	}
	return "return function() " + work + " end"
}

// text is a text of n bytes in s before something.
func text(work string) string { return "local s = ('x'):rep(n) " + each(work) }

// twins are two equal texts of n bytes, of different origin.
func twins(work string) string {
	return "local a, b = ('x'):rep(n), ('x'):rep(n - 1) .. 'x' " + each(work)
}

// list is a list of n elements in t.
func list(element, work string) string {
	return "local t = {} for i = 1, n do t[i] = " + element + " end " + each(work)
}

// sparse is a list of n elements that is not in the array of its table.
func sparse(element, work string) string {
	return "local t = {x = 1} for i = n, 1, -1 do t[i] = " + element + " end " + each(work)
}

// colliding are n texts of one length and hash in k, and in the table t.
const colliding = `local k, t = {}, {} local pad = ('x'):rep(200)
n = n / 4
for i = 1, n do local s = pad .. ('%05d'):format(i):gsub('%d', '%0zzzzzzzzzzzzz') .. pad k[i] = s t[s] = i end `

// digits is a number of n digits in s that lies between two doubles.
const digits = `local s = '9007199254740993' .. ('0'):rep(n) .. '1' `

// protected calls a function in a loop, whatever it raises.
func protected(call string) string { return each("for i = 1, 10 do pcall(" + call + ") end") }

// plain is a call that has nothing to grow.
func plain(call string) []recipe { return of(each("for i = 1, 100 do local x = " + call + " end")) }

// recipes are those of each library function by its name, and of each operation of the language.
var recipes = map[string][]recipe{
	"assert":         of(list("i", "return assert(unpack(t))"), "local s = ('x'):rep(n) "+protected("assert, false, s")),
	"collectgarbage": append(plain("collectgarbage('count')"), of(text("pcall(collectgarbage, s)"))...),
	"error":          of("local s = ('x'):rep(n) "+protected("error, s"), "local function f(d) if d == 0 then error('x') end f(d - 1) return 1 end "+each("pcall(f, n)"), "local function f(d) if d == 0 then error('x') end f(d - 1) return 1 end "+each("pcall(coroutine.wrap(f), n)")),
	"gcinfo":         plain("gcinfo()"),
	"getmetatable":   append(plain("getmetatable('')"), of("local t = setmetatable({}, {__metatable = ('x'):rep(n)}) "+each("return getmetatable(t)"))...),
	"ipairs":         of(list("i", "for i, v in ipairs(t) do end"), sparse("i", "for i, v in ipairs(t) do end")),
	"load":           of("local s = 'return ' .. ('x + '):rep(n) .. '1' s = s:sub(1, 4000) .. 1 local function f() local r = s s = nil return r end " + each("local p = s load(f) s = p")),
	"loadstring":     compiling,
	"next":           of(list("i", "local k repeat k = next(t, k) until not k"), list("i", "return next(t)"), "local t = {} for i = 1, n do t[i] = i end for i = 1, n do t[i] = nil end "+each("return next(t)"), "local t = {} for i = 1, n do t['k' .. i] = i end for i = 1, n do t['k' .. i] = nil end "+each("return next(t)"), "local t = {} for i = 1, n do t['k' .. i] = i end "+each("local k repeat k = next(t, k) until not k"), colliding+each("local k repeat k = next(t, k) until not k")),
	"pairs":          of(list("i", "for k in pairs(t) do end"), colliding+each("for k in pairs(t) do end")),
	"pcall":          of(list("i", "return pcall(unpack, t)"), list("i", "return pcall(type, unpack(t))"), each("for i = 1, 100 do pcall(type, 1) end")),
	"rawequal":       long(twins("return rawequal(a, b)")),
	"rawget":         append(long("local t = {} t[('x'):rep(n)] = 1 local s = ('x'):rep(n - 1) .. 'x' "+each("return rawget(t, s)")), of(colliding+each("return rawget(t, k[1])"))...),
	"rawset":         append(long("local t = {} t[('x'):rep(n)] = 1 local s = ('x'):rep(n - 1) .. 'x' "+each("return rawset(t, s, 1)")), of(colliding+each("rawset(t, k[1], 1)"))...),
	"select":         of(list("i", "return select(2, unpack(t))"), list("i", "return select('#', unpack(t))")),
	"setmetatable":   plain("setmetatable({}, {})"),
	"tonumber": append(of("local s = ('1'):rep(n) "+each("return tonumber(s)"), "local s = ('0'):rep(n) "+each("return tonumber(s)"), "local s = '0x' .. ('f'):rep(n) "+each("return tonumber(s)"), "local s = (' '):rep(n) .. '1' "+each("return tonumber(s)"),
		"local s = '1' .. (' '):rep(n) "+each("return tonumber(s)"), "local s = ('1'):rep(n) "+each("return tonumber(s, 7)"), "local s = ('0'):rep(n) "+each("return tonumber(s, 16)"), "local s = ('x'):rep(n) "+each("return tonumber(s)"), "local s = 'n' .. ('x'):rep(n) "+each("return tonumber(s)"), digits+each("return tonumber(s)")),
		at(20, digits+each("return tonumber(s)"), digits+" s = s .. 'e-300' "+each("return tonumber(s)"), digits+" s = s .. 'e290' "+each("return tonumber(s)"))...),
	"tostring": of(each("for i = 1, 100 do local x = tostring(i) end"), each("for i = 1, 100 do local x = tostring(i / 7) end"), each("for i = 1, 100 do local x = tostring({}) end"), text("return tostring(s)")),
	"type":     plain("type(1)"),
	"unpack":   of(list("i", "return unpack(t)"), sparse("i", "return unpack(t)")),
	"xpcall":   of(each("for i = 1, 10 do xpcall(error, type) end"), text("xpcall(function() error(s) end, tostring)")),

	"coroutine.create":  plain("coroutine.create(function() end)"),
	"coroutine.resume":  of(list("i", "local co = coroutine.create(function(...) return ... end) return coroutine.resume(co, unpack(t))"), each("for i = 1, 10 do local co = coroutine.create(function() end) coroutine.resume(co) end"), "local f f = function(d) if d == 0 then return 0 end return 1 + f(d - 1) end "+each("local x = coroutine.resume(coroutine.create(f), n)")),
	"coroutine.running": plain("coroutine.running()"),
	"coroutine.status":  of("local co = coroutine.create(function() end) " + each("for i = 1, 100 do local x = coroutine.status(co) end")),
	"coroutine.wrap":    of(list("i", "return coroutine.wrap(function(...) return ... end)(unpack(t))"), text("pcall(coroutine.wrap(function() error(s) end))")),
	"coroutine.yield":   of("local f = coroutine.wrap(function() while true do coroutine.yield() end end) "+each("for i = 1, 100 do f() end"), list("i", "local f = coroutine.wrap(function(...) while true do coroutine.yield(...) end end) f(unpack(t)) f() f()")),

	"string.byte":    of(text("return s:byte(1, -1)"), text("return s:byte(1)")),
	"string.char":    of(list("65", "return string.char(unpack(t))")),
	"string.dump":    of(protected("string.dump, type")),
	"string.find":    append(append(searches("find"), of("local s, p = ('ab' .. ('c'):rep(15)):rep(n), ('ab' .. ('c'):rep(15)):rep(n / 2) .. 'd' "+each("return s:find(p, 1, true)"), "local s, p = ('a'):rep(2 * n), ('a'):rep(n) .. 'b' "+each("return s:find(p, 1, true)"), "local p = ('x'):rep(n) "+each("return (''):find(p)"), text("return s:find('y', 1, true)"), text("return s:find('xy', 1, true)"))...), long(text("return s:find('y', 1, true)"), text("return s:find('xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxy', 1, true)"))...),
	"string.format":  append(long(text("return string.format('%5.5s', s)"), text("return string.format('%s', s)")), of(text("return string.format('%s', s)"), text("return string.format('%q', s)"), text("return string.format(s)"), "local s = ('%d'):rep(n) local t = {} for i = 1, n do t[i] = i end "+each("return string.format(s, unpack(t))"), "local s = ('%99d'):rep(n) local t = {} for i = 1, n do t[i] = i end "+each("return string.format(s, unpack(t))"), "local s = ('%g'):rep(n) local t = {} for i = 1, n do t[i] = i / 7 end "+each("return string.format(s, unpack(t))"), "local s = ('%%'):rep(n) "+each("return string.format(s)"), "local s = ('%s'):rep(n) local t = {} for i = 1, n do t[i] = 'x' end "+each("return string.format(s, unpack(t))"), each("return string.format('%f', 0.1)"), each("return string.format('%.99f', 1e308)"), each("return string.format('%.99f', 1e-308)"), each("return string.format('%f', 1e308)"), each("return string.format('%.99e', 1e-308)"), each("return string.format('%.99e', 0.1)"), each("return string.format('%.99g', 1e-308)"), each("return string.format('%.17g', 0.1)"), each("return string.format('%c%i%u%x%X%o', 1, 2, 3, 4, 5, 6)"), each("return string.format('%#.99g', 1e-308)"), digits+each("return string.format('%d', s)"))...),
	"string.gfind":   matches("gfind"),
	"string.gmatch":  matches("gmatch"),
	"string.gsub":    append(searches("gsub", "''"), of(text("return s:gsub('x', 0.1)"), text("return s:gsub('x', '%0%0')"), text("return s:gsub('x', {x = 'yy'})"), text("return s:gsub('x', function() return 'y' end)"), text("return s:gsub('', '-')"), text("return ('xxxx'):gsub('x', s)"), text("return ('xxxx'):gsub('(x)', s .. '%1')"), "local s = ('%1'):rep(n) "+each("return ('xxxx'):gsub('x', s)"), "local s = ('%%'):rep(n) "+each("return ('xxxx'):gsub('x', s)"))...),
	"string.len":     of(text("return s:len()")),
	"string.lower":   of(text("return s:lower()")),
	"string.match":   searches("match"),
	"string.rep":     of(text("return s:rep(3)"), each("return ('x'):rep(n)")),
	"string.reverse": of(text("return s:reverse()")),
	"string.sub":     of(text("return s:sub(2)"), text("return s:sub(2, 3)")),
	"string.upper":   of(text("return s:upper()")),

	"table.concat":   of(list("'x'", "return table.concat(t)"), list("i", "return table.concat(t, ', ')"), list("i / 7", "return table.concat(t)"), sparse("'x'", "return table.concat(t)"), "local t = {'a', 'b', 'c'} local s = ('x'):rep(n) "+each("return table.concat(t, s)")),
	"table.foreach":  of(list("i", "table.foreach(t, type)"), colliding+each("table.foreach(t, type)")),
	"table.foreachi": of(list("i", "table.foreachi(t, type)")),
	"table.getn":     of(list("i", "return table.getn(t)"), sparse("i", "return table.getn(t)")),
	"table.insert":   of(list("i", "table.insert(t, 1, 0) table.remove(t)"), sparse("i", "table.insert(t, 1, 0) t[#t] = nil"), each("local t = {} for i = 1, n do table.insert(t, i) end")),
	"table.maxn":     of(list("i", "return table.maxn(t)"), sparse("i", "return table.maxn(t)"), "local t = {} for i = 1, n do t['k' .. i] = i end for i = 1, n do t['k' .. i] = nil end "+each("return table.maxn(t)")),
	"table.remove":   of(list("i", "table.remove(t, 1) t[#t + 1] = 1"), sparse("i", "table.remove(t, 1) t[#t + 1] = 1"), each("local t = {} for i = 1, n do t[i] = i end for i = 1, n do table.remove(t) end")),
	"table.setn":     of(protected("table.setn, {}, 1")),
	"table.sort":     of(list("n - i", "table.sort(t)"), list("(i * 7919) % n", "table.sort(t)"), list("'x' .. (i * 7919) % n", "table.sort(t)"), list("i", "table.sort(t, function(a, b) return a < b end)"), sparse("n - i", "table.sort(t)"), "local t, s = {}, ('x'):rep(n) for i = 1, 20 do t[i] = s .. i end "+each("table.sort(t)")),

	"cjson.decode":                  append(of(parsed("[1,1,1]", "cjson.decode", "'[' .. ('1,'):rep(n) .. '1]'"), parsed("", "cjson.decode", "'[' .. ('[],'):rep(n) .. '1]'"), parsed("", "cjson.decode", "'[' .. ('\"x\",'):rep(n) .. '1]'"), parsed("", "cjson.decode", "'\"' .. ('x'):rep(n) .. '\"'"), parsed("", "cjson.decode", "'[' .. ('true,'):rep(n) .. 'null]'"), parsed("", "cjson.decode", "'[' .. ('1.5e-300,'):rep(n) .. '1]'"), parsed("", "cjson.decode", "(' '):rep(n) .. '1'"), parsed("", "cjson.decode", "'[' .. ('{\"a\":1},'):rep(n) .. '1]'"), parsed("", "cjson.decode", "'[' .. ('\"\\\\u0041\",'):rep(n) .. '1]'"), digits+each("return cjson.decode(s)"), "local s = '{' for i = 1, n do s = s .. '\"k' .. i .. '\":1,' end s = s .. '\"x\":1}' "+each("return cjson.decode(s)")), at(200, parsed("", "cjson.decode", "('['):rep(n) .. (']'):rep(n)"))...),
	"cjson.encode":                  of(list("i", "return cjson.encode(t)"), list("i / 7", "return cjson.encode(t)"), list("'x'", "return cjson.encode(t)"), list("{}", "return cjson.encode(t)"), list("true", "return cjson.encode(t)"), text("return cjson.encode(s)"), "local s = ('\\1'):rep(n) "+each("return cjson.encode(s)"), "local t = {} for i = 1, n do t['k' .. i] = i end "+each("return cjson.encode(t)"), sparse("i", "t.x = nil return cjson.encode(t)"), colliding+each("return cjson.encode(t)"), "local t = {} for i = 1, n do t['k' .. i] = i end for i = 1, n do t['k' .. i] = nil end "+each("return cjson.encode(t)")),
	"cjson.encode_sparse_array":     plain("cjson.encode_sparse_array(true, 1, 1)"),
	"cjson.encode_max_depth":        plain("cjson.encode_max_depth(1000)"),
	"cjson.decode_max_depth":        plain("cjson.decode_max_depth(1000)"),
	"cjson.encode_number_precision": plain("cjson.encode_number_precision(14)"),
	"cjson.encode_keep_buffer":      plain("cjson.encode_keep_buffer(true)"),
	"cjson.encode_invalid_numbers":  append(plain("cjson.encode_invalid_numbers(false)"), of(text("pcall(cjson.encode_invalid_numbers, s)"))...),
	"cjson.decode_invalid_numbers":  plain("cjson.decode_invalid_numbers(true)"),
	"cjson.new":                     of(each("for i = 1, 10 do local x = cjson.new() end")),

	"cmsgpack.pack":         of(list("i", "return cmsgpack.pack(t)"), list("i / 7", "return cmsgpack.pack(t)"), list("'x'", "return cmsgpack.pack(t)"), list("{}", "return cmsgpack.pack(t)"), list("i", "return cmsgpack.pack(unpack(t))"), text("return cmsgpack.pack(s)"), "local t = {} for i = 1, n do t['k' .. i] = i end "+each("return cmsgpack.pack(t)"), sparse("i", "t.x = nil return cmsgpack.pack(t)")),
	"cmsgpack.unpack":       of(packed("i", "cmsgpack.unpack(s)"), packed("'x'", "cmsgpack.unpack(s)"), packed("{}", "cmsgpack.unpack(s)"), packed("i / 7", "cmsgpack.unpack(s)"), "local s = cmsgpack.pack(('x'):rep(n)) "+each("return cmsgpack.unpack(s)"), "local s = ('\\1'):rep(n) "+each("return cmsgpack.unpack(s)"), "local t = {} for i = 1, n do t['k' .. i] = i end local s = cmsgpack.pack(t) "+each("return cmsgpack.unpack(s)"), "local s = ('\\145'):rep(n) .. '\\1' "+each("return cmsgpack.unpack(s)")),
	"cmsgpack.unpack_one":   of(packed("i", "cmsgpack.unpack_one(s)"), "local s = ('\\1'):rep(n) "+each("return cmsgpack.unpack_one(s, n - 1)")),
	"cmsgpack.unpack_limit": of(packed("i", "cmsgpack.unpack_limit(s, 1)"), "local s = ('\\1'):rep(n) "+each("return cmsgpack.unpack_limit(s, n)")),

	"struct.pack":   of(each("return struct.pack('ibhldfs', 1, 2, 3, 4, 5, 6, 'x')"), "local s = ('i'):rep(n) local t = {} for i = 1, n do t[i] = i end "+each("return struct.pack(s, unpack(t))"), "local s = (' '):rep(n) "+each("return struct.pack(s)"), "local s = ('x'):rep(n) "+each("return struct.pack(s)"), "local s = ('i32'):rep(n) local t = {} for i = 1, n do t[i] = i end "+each("return struct.pack(s, unpack(t))"), text("return struct.pack('s', s)"), text("return struct.pack('c0', s)"), text("return struct.pack('c5', s)"), "local s = 'i' .. ('0'):rep(n) .. '4' "+each("return struct.pack(s, 1)")),
	"struct.unpack": append(long(text("pcall(struct.unpack, 's', s)"), "local s = ('x'):rep(n) .. '\\0' "+each("return struct.unpack('s', s)")), of("local s, f = ('x'):rep(4 * n), ('i'):rep(n) "+each("return struct.unpack(f, s)"), "local s, f = ('x'):rep(32 * n), ('i32'):rep(n) "+each("return struct.unpack(f, s)"), "local s = ('x'):rep(n) .. '\\0' "+each("return struct.unpack('s', s)"), "local s = struct.pack('i', n) .. ('x'):rep(n) "+each("return struct.unpack('ic0', s)"), "local s = ('x'):rep(n) "+each("return struct.unpack('c' .. n, s)"), "local s, f = ('\\0'):rep(n), ('s'):rep(n) "+each("return struct.unpack(f, s)"))...),
	"struct.size":   of("local s = ('i'):rep(n) "+each("return struct.size(s)"), "local s = (' '):rep(n) "+each("return struct.size(s)")),

	"redis.call":               of(list("'x'", "return redis.call('SET', unpack(t))"), text("return redis.call('SET', s)"), list("i / 7", "return redis.call('SET', unpack(t))"), each("for i = 1, 10 do redis.call('PING') end")),
	"redis.pcall":              of(list("'x'", "return redis.pcall('SET', unpack(t))"), text("return redis.pcall('SET', s)")),
	"redis.log":                of(list("'x'", "redis.log(1, unpack(t))"), text("redis.log(1, s)")),
	"redis.setresp":            append(plain("redis.setresp(2)"), of(digits+"s = '2.' .. ('0'):rep(n) "+each("redis.setresp(s)"))...),
	"redis.error_reply":        long(text("return redis.error_reply(s)"), text("return redis.error_reply('\\0' .. s)")),
	"redis.status_reply":       of(text("return redis.status_reply(s)")),
	"redis.sha1hex":            of(text("return redis.sha1hex(s)")),
	"redis.set_repl":           plain("redis.set_repl(3)"),
	"redis.acl_check_cmd":      of(list("'x'", "return redis.acl_check_cmd('SET', unpack(t))"), text("return redis.acl_check_cmd('SET', s)")),
	"redis.replicate_commands": plain("redis.replicate_commands()"),
	"redis.register_function":  of("local s, c = ('x'):rep(n), 0 "+each("c = c + 1 redis.register_function(s .. c, type)"), "local names, t = 0, {} for i = 1, n do t[i] = 'no-writes' end "+each("names = names + 1 redis.register_function{function_name = 'f' .. n .. '_' .. names, callback = type, flags = t}")),
	"redis.breakpoint":         plain("redis.breakpoint()"),
	"redis.debug":              of(list("'x'", "redis.debug(unpack(t))")),
	"os.clock":                 plain("os.clock()"),
}

func init() {
	for _, name := range []string{"abs", "acos", "asin", "atan", "ceil", "cos", "cosh", "deg", "exp", "floor", "frexp", "log", "log10", "modf", "rad", "randomseed", "sin", "sinh", "sqrt", "tan", "tanh"} {
		recipes["math."+name] = numbers("math." + name + "(%)")
	}
	for _, name := range []string{"atan2", "fmod", "mod", "pow"} {
		recipes["math."+name] = append(numbers("math."+name+"(%, 0.3)"), numbers("math."+name+"(1.7e308, %)")...)
	}
	recipes["math.random"] = append(plain("math.random()"), append(plain("math.random(5)"), plain("math.random(5, 7)")...)...)
	recipes["math.ldexp"] = append(numbers("math.ldexp(%, 7)"), numbers("math.ldexp(0.7, %)")...)
	for _, name := range []string{"math.max", "math.min", "bit.band", "bit.bor", "bit.bxor"} {
		recipes[name] = append(of(list("i", "return "+name+"(unpack(t))")), numbers(name+"(%, 7)")...)
	}
	for _, name := range []string{"lshift", "rshift", "arshift", "rol", "ror", "tohex"} {
		recipes["bit."+name] = numbers("bit." + name + "(%, 7)")
	}
	for _, name := range []string{"tobit", "bnot", "bswap"} {
		recipes["bit."+name] = numbers("bit." + name + "(%)")
	}
}

// numbers are calls with numbers of all kinds in the place of a %, and with a numeric text.
func numbers(call string) (list []recipe) {
	for _, x := range []string{"0.3", "-7", "1e15 + 1", "1.7e308", "5e-324", "1/0", "0/0", "'12'"} {
		list = append(list, plain(strings.Replace(call, "%", x, 1))...)
	}
	return append(list, at(20, digits+each("return "+strings.Replace(call, "%", "s", 1)))...)
}

// operations are those of the language that need no library. Operators are named as they are written between or before
// operands.
var operations = map[string][]recipe{
	"a == b":  long(twins("return a == b"), twins("return a .. 'x' == b"), "local a, b = setmetatable({}, {__eq = rawequal}), setmetatable({}, {__eq = rawequal}) "+each("return a == b")),
	"a ~= b":  long(twins("return a ~= b")),
	"a < b":   long(twins("return a < b")),
	"a > b":   long(twins("return a > b")),
	"a <= b":  long(twins("return a <= b")),
	"a >= b":  long(twins("return a >= b")),
	"a + b":   numeric("s + 1", "1 + s"),
	"a - b":   numeric("s - 1", "1 - s"),
	"a * b":   numeric("s * 2", "s * s"),
	"a / b":   numeric("s / 2"),
	"a % b":   numeric("s % 7"),
	"a ^ b":   numeric("s ^ 2", "2 ^ s"),
	"a .. b":  of(twins("return a .. b"), text("return s .. 1"), text("return 0.1 .. s"), each("return n / 7 .. n / 9 .. n / 11"), each("return n .. n .. n"), "local a = setmetatable({}, {__concat = function(a, b) return 'x' end}) "+each("return 1 .. a .. 2 .. a .. 3")),
	"a and b": of(text("return s and s and s")),
	"a or b":  of(text("return nil or s")),
	"# a":     of(text("return #s"), list("i", "return #t"), sparse("i", "return #t"), "local t = {} for i = 1, n do t[i] = i end for i = n, n / 2, -1 do t[i] = nil end "+each("return #t"), "local t = {x = 1} for i = 0, 30 do t[2 ^ i] = 1 end "+each("return #t")),
	"- a":     numeric("-s"),
	"not a":   of(text("return not s")),

	"index": append(append(long("local t = {} t[('x'):rep(n)] = 1 local s = ('x'):rep(n - 1) .. 'x' "+each("return t[s]")), of(colliding+each("return t[k[1]]"), colliding+each("return t[k[n / 2] .. '']"), list("i", "local s = 0 for i = 1, n do s = s + t[(i * 7919) % n + 1] end"), sparse("i", "local s = 0 for i = 1, n do s = s + t[(i * 7919) % n + 1] end"), "local t = {} for i = 1, n do t['k' .. i] = i end "+each("local s = 0 for k, v in pairs(t) do s = s + t[k] end"))...),
		at(20, chain("__index", "return t.x"), chain("__index", "return t[1]"))...),
	"assign": append(append(long("local t = {} t[('x'):rep(n)] = 1 local s = ('x'):rep(n - 1) .. 'x' "+each("t[s] = 1")), of(colliding+each("t[k[1]] = 1"), colliding+each("local t = {} for i = 1, n do t[k[i]] = i end"), each("local t = {} for i = 1, n do t[i] = i end"), each("local t = {} for i = n, 1, -1 do t[i] = i end"), each("local t = {} for i = 1, n do t['k' .. i] = i end"), list("i", "t.x = 1 t.x = nil t.y = 1 t.y = nil"), "local t = {} "+each("for i = 1, n do t[i] = i t[i] = nil end"))...),
		at(20, chain("__newindex", "t.x = nil"))...),
	"call":         of(list("i", "type(unpack(t))"), list("i", "(function(...) return ... end)(unpack(t))"), list("i", "local f = setmetatable({}, {__call = type}) f(unpack(t))"), "local function f(i) if i == 0 then return 0 end return f(i - 1) end "+each("f(n)"), "local function f() local a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z end "+each("for i = 1, 100 do f() end"), "local f = loadstring('return function() ' .. ('local x '):rep(190) .. ' end')() "+each("for i = 1, 100 do f() end")),
	"recursion":    at(500, "local function f(i) if i == 0 then return 0 end return 1 + f(i - 1) end "+each("f(n)")),
	"method":       of(text("for i = 1, 100 do s:len() end"), "local o = {f = function(self) return self end} "+each("for i = 1, 100 do o:f() end")),
	"constructor":  of(list("i", "return {unpack(t)}"), each("for i = 1, 100 do local t = {1, 2, 3, x = 4} end"), each("for i = 1, 100 do local t = {} end")),
	"closure":      of(each("for i = 1, 100 do local f = function() return i end end")),
	"varargs":      of(list("i", "(function(...) local a, b = ... local t = {...} end)(unpack(t))"), list("i", "(function(...) return arg.n end)(unpack(t))")),
	"numeric for":  append(numericFor(), of(each("for i = 1, n do end"))...),
	"generic for":  of(list("i", "for k, v in next, t do end")),
	"while":        of(each("local i = 0 while i < n do i = i + 1 end")),
	"repeat":       of(each("local i = 0 repeat i = i + 1 until i >= n")),
	"if":           of(each("for i = 1, n do if i % 2 == 0 then elseif i % 3 == 0 then else end end")),
	"global":       of(each("for i = 1, 100 do local x = type end")),
	"upvalue":      of("local x = 0 " + each("for i = 1, n do x = x + 1 end")),
	"failed index": of(each("for i = 1, 10 do pcall(function() local x = nil x.y = 1 end) end"), text("pcall(function() return s.x.y end)"), text("pcall(function() return s + 1 end)")),
}

// numeric are expressions of a numeric text s of n digits.
func numeric(expressions ...string) (list []recipe) {
	for _, e := range expressions {
		list = append(list, of("local s = ('1'):rep(n) "+each("return "+e), "local s = ('0'):rep(n) .. 1 "+each("return "+e), "local s = '0x' .. ('0'):rep(n) "+each("return "+e), digits+each("return "+e))...)
		list = append(list, at(20, digits+each("return "+e))...)
	}
	return list
}

func numericFor() []recipe {
	return of("local s = ('0'):rep(n) .. 1 "+each("for i = s, s, s do end"), digits+each("for i = s, 1 do end"))
}

// chain is a chain of n tables, each the metatable's field of the next.
func chain(event, work string) string {
	return "local t = {} for i = 1, n - 1 do t = setmetatable({}, {" + event + " = t}) end " + each(work)
}

// parsed is a call with a text.
func parsed(_, call, text string) string {
	return "local s = " + text + " " + each("return "+call+"(s)")
}

func packed(element, call string) string {
	return "local t = {} for i = 1, n do t[i] = " + element + " end local s = cmsgpack.pack(t) " + each("return "+call)
}

func searches(name string, more ...string) []recipe {
	rest := ""
	for _, m := range more {
		rest += ", " + m
	}
	call := func(pattern string) string { return text("return s:" + name + "(" + pattern + rest + ")") }
	return append(of(call("'y'"), call("'[a-w]'"), call("'x*'"), call("'^(x*)x*$'"), call("'%f[y]'"), call("'%f[x]'"), call("'()x'"), call("'x?y'"),
		"local p = '[' .. ('a'):rep(n) .. ']' "+each("return (''):"+name+"(p"+rest+")"), "local p = '[' .. ('a'):rep(n) .. ']' "+each("return ('bbbb'):"+name+"(p"+rest+")"), "local p = ('a?'):rep(n / 100) "+each("return ('a'):"+name+"(p"+rest+")")), at(10, call("'.-.-.-y'"), call("'x*x*x*y'"), call("'%w+y'"), call("'(x*)%1y'"), call("'%bxy'"))...)
}

func matches(name string) []recipe {
	call := func(pattern string) string {
		return text("for m in s:" + name + "(" + pattern + ") do end")
	}
	return of(call("'x'"), call("'y'"), call("'x*'"), call("'()'"), "local p = '[' .. ('a'):rep(n) .. ']' "+each("for m in ('bb'):"+name+"(p) do end"))
}

// compiling are sources of n parts.
var compiling = at(100, source("('x = 1 '):rep(n)"), source("'return ' .. ('1+'):rep(n) .. '1'"), source("'return {' .. ('1,'):rep(n) .. '}'"), source("'return \"' .. ('x'):rep(n) .. '\"'"), source("'return ' .. ('1'):rep(n)"), source("('do end '):rep(n)"), source("'--' .. ('x'):rep(n)"), source("'--[[' .. ('x'):rep(n) .. ']]'"),
	source("'return [' .. ('='):rep(n) .. '[' .. (']='):rep(n) .. ']' .. ('='):rep(n) .. ']'"), source("('f()'):rep(n, ' ')"), source("('local function f() end '):rep(190)"), source("'local ' .. ('x'):rep(n) .. ' = 1 return ' .. ('x'):rep(n)"), source("'return ' .. ('x'):rep(n)"),
	"local p, q = '', '' for i = 1, 150 do p = p .. 'local function f' .. i .. '() ' for j = 1, 30 do p = p .. 'local v' .. j .. ' ' end q = q .. ' end' end local s = p .. ('g() '):rep(n) .. q "+each("return loadstring(s)"),
	source("'if x then ' .. ('elseif x then '):rep(n) .. 'end'"), source("'return {' .. ('x=1,'):rep(n) .. '}'"), source("'return function() ' .. ('a.b.c:d(1)\\n'):rep(n) .. ' end'"))

func source(text string) string { return "local s = " + text + " " + each("return loadstring(s)") }
