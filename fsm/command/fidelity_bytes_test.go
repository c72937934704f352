package command_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/command/scripttest"
	"github.com/trireme-dev/trireme/fsm/reply"
)

// alphabets replace the letters of keys, fields, members and values by others: bytes that are no UTF-8, characters of several
// bytes whose halves other characters share, and letters that Unicode folds to ASCII's.
var alphabets = []struct {
	name    string
	letters *strings.Replacer
}{
	{"no UTF-8", strings.NewReplacer("a", "\xff", "b", "\xc3", "c", "\xa9\xc3", "e", "\x80", "k", "\xed\xa0\x80", "l", "\xe2\x82", "s", "\xf0\x9f", "v", "\xc0\xaf", "x", "\xfe")},
	{"multi-byte", strings.NewReplacer("a", "é", "b", "è", "c", "日", "e", "\u00a0", "k", "\u0085", "l", "\u2028", "s", "😀", "v", "ﬀ", "x", "ê")},
	{"folded", strings.NewReplacer("k", "\u212a", "s", "\u017f", "i", "\u0131", "a", "\u00e5", "e", "\u0130")},
}

// isData tells the words of scripts that are keys, fields, members and values: words of commands are in upper case.
var isData = regexp.MustCompile(`^[a-z]{1,2}[a-z0-9]*$`)

// TestFidelityOfBytes runs every script on both sides with other letters in what its commands are about, and compares the
// replies. What a command takes is bytes, whichever they are.
func TestFidelityOfBytes(t *testing.T) {
	r, differences := startRedis(t), readDifferences(t)
	compared, commands := 0, map[string]bool{}
	for _, alphabet := range alphabets {
		for _, path := range scriptFiles(t) {
			if group := strings.Split(path, "/")[1]; slices.Contains([]string{"acl", "connection", "cluster", "pubsub", "server", "transactions"}, group) {
				continue // their words are names and settings
			}
			ours, now := newReplica(t), int64(scripttest.Start)
			r.setClock(now)
			r.empty()
			for _, s := range readScript(t, path) {
				now += s.After
				if !comparable(r.version, &s) || !known(r.version, &s) || !sameEverywhere(r.version, &s) || !sameAround("none", &s) {
					continue
				}
				plain := s.Text
				for i := 1; i < len(s.Argv); i++ {
					if isData.Match(s.Argv[i]) {
						s.Argv[i] = []byte(alphabet.letters.Replace(string(s.Argv[i])))
					}
				}
				s.Text = textOf(s.Argv)
				r.setClock(now)
				v := ours.run(now, &s)
				r.makeConsumer(&s, v)
				if strings.HasPrefix(rows.Find(s.Argv).Name, "sort") {
					r.forgetRange()
				}
				theirs := r.do(s.Argv...)
				compared++
				commands[rows.Find(s.Argv).Name] = true
				if we, they := shownBytes(&s, ours, v), shownBytes(&s, ours, theirs); we != they && !explained(differences, r.version, &s) && !explainedAs(differences, r.version, &s, plain) {
					t.Errorf("%s, %s:%d: %s\nRedis %s:\n%s\nwe:\n%s", alphabet.name, path, s.Line, s.Text, r.version, they, we)
				}
			}
		}
	}
	t.Logf("compared %d replies of %d commands", compared, len(commands))
	for _, c := range rows.Rows() {
		if of := []string{"string", "list", "set", "hash", "sorted-set", "bitmap", "geo", "stream", "hyperloglog", "generic"}; !slices.Contains(of, c.Group()) || commands[c.Name] {
			continue
		}
		if s := stepOf(inWords(strings.ToUpper(c.Name))); !strings.HasSuffix(c.Name, " help") && known(r.version, s) && sameEverywhere(r.version, s) && sameAround("none", s) && c.Flags&command.NoMulti == 0 {
			t.Errorf("%s was not compared", c.Name)
		}
	}
}

// explainedAs is explained of a step by its text before its letters were replaced.
func explainedAs(differences []*difference, version string, s *scripttest.Step, text string) bool {
	as := *s
	as.Text = text
	return explained(differences, version, &as)
}

func shownBytes(s *scripttest.Step, judge *replica, v reply.Value) string {
	if string(s.Argv[0]) == "DUMP" && v.Kind() == reply.KindBulk {
		return newReplica(judge.t).unpacked(v.Text())
	}
	if string(s.Argv[0]) == "KEYS" {
		v = inOrder(v)
	}
	return strings.ReplaceAll(s.Shown(v), "(nil array)", "(nil)")
}

// TestFidelityOfFoldedWords gives every word of a command in upper case with a letter that Unicode, but not ASCII, folds to it.
// No command takes it for the word.
func TestFidelityOfFoldedWords(t *testing.T) {
	r, ours, differences := startRedis(t), newReplica(t), readDifferences(t)
	folds := map[byte]string{'K': "\u212a", 'S': "\u017f", 'I': "\u0131"}
	upper, compared := regexp.MustCompile(`^[A-Z]+$`), 0
	for _, path := range scriptFiles(t) {
		for _, s := range readScript(t, path) {
			if !comparable(r.version, &s) || !known(r.version, &s) || strings.HasPrefix(s.Want, "(error)") || !sameAround("none", &s) {
				continue
			}
			for i, word := range s.Argv {
				if !upper.Match(word) || rows.Find(s.Argv).Group() == "connection" {
					continue
				}
				for at, letter := range word {
					if folds[letter] == "" {
						continue
					}
					argv := slices.Clone(s.Argv)
					argv[i] = []byte(string(word[:at]) + folds[letter] + string(word[at+1:]))
					if step := stepOf(argv); !sameEverywhere(r.version, step) || explained(differences, r.version, step) {
						continue
					}
					compared++
					v, theirs := ours.run(scripttest.Start, stepOf(argv)), r.do(argv...)
					if v.IsError() != theirs.IsError() {
						t.Errorf("%s:%d: %s\nRedis %s:\n%s\nwe:\n%s", path, s.Line, textOf(argv), r.version, scripttest.Print(theirs), scripttest.Print(v))
					}
				}
			}
			r.empty()
			ours.run(scripttest.Start, stepOf(inWords("FLUSHALL")))
		}
	}
	t.Logf("compared %d words", compared)
}

// luaTexts are the arguments for each function of Lua's libraries, as literals of Lua.
var luaTexts = []string{`'h\195\169llo'`, `'\255\254\0x'`, `'\195'`, `'\169\195\169'`, `'\226\132\170\197\191\196\177\196\176'`, `'A\194\160b\194\133C'`, `'\237\160\128'`, `'\240\159\152\128z'`, `''`}

// luaCalls are calls of the functions that take a text, %s; with two texts, %s is the same one twice.
var luaCalls = map[string][]string{
	"string.byte": {"string.byte(%s,1,-1)", "string.byte(%s,-2)"}, "string.char": {"string.char(string.byte(%s,1,-1))"}, "string.find": {"string.find(%s,'\\169')", "string.find(%s,'[\\128-\\255]+')", "string.find(%s,'%%a+')", "string.find(%s,'.',2,true)", "string.find(%s,'%%s')", "string.find(%s,'()%%A()')"},
	"string.format": {"string.format('%%q',%s)", "string.format('%%5s|',%s)", "string.format('%%.2s|',%s)", "string.format('%%-9s\\233|',%s)"}, "string.gmatch": {"(function(s) local n='' for c in string.gmatch(s,'.') do n=n..c..'|' end return n end)(%s)"},
	"string.gsub": {"string.gsub(%s,'[^%%w]','<%%0>')", "string.gsub(%s,'\\195','')", "string.gsub(%s,'.',string.upper)", "string.gsub(%s,'','-')"}, "string.len": {"string.len(%s)", "#%s"}, "string.lower": {"string.lower(%s)"},
	"string.match": {"string.match(%s,'%%S+')", "string.match(%s,'[%%c%%p%%l%%u]+')", "string.match(%s,'%%z.*')"}, "string.rep": {"string.rep(%s,3)"}, "string.reverse": {"string.reverse(%s)"}, "string.sub": {"string.sub(%s,2,3)", "string.sub(%s,-2)"}, "string.upper": {"string.upper(%s)"},
	"cjson.encode": {"cjson.encode(%s)", "cjson.encode({[%s]=1})"}, "cjson.decode": {"cjson.decode('[\"'..%s..'\"]')[1]"}, "cmsgpack.pack": {"cmsgpack.pack(%s)", "cmsgpack.pack({[%s]=%s})"}, "cmsgpack.unpack": {"cmsgpack.unpack(cmsgpack.pack(%s))"},
	"struct.pack": {"struct.pack('s',%s)", "struct.pack('>c0',%s)", "struct.pack('Bc0',#%s,%s)"}, "struct.unpack": {"struct.unpack('Bc0',struct.pack('Bc0',#%s,%s))"}, "redis.sha1hex": {"redis.sha1hex(%s)"}, "redis.error_reply": {"redis.error_reply(%s)", "redis.error_reply('E '..%s)"},
	"redis.status_reply": {"redis.status_reply(%s)"}, "table.concat": {"table.concat({%s,%s},%s)"}, "table.sort": {"(function(a) table.sort(a) return table.concat(a) end)({%s,'\\255','a','\\195\\169'})"}, "tostring": {"tostring(%s)"}, "tonumber": {"tonumber(%s)", "tonumber('1'..%s)", "tonumber(%s..'7',36)"},
	"redis.call": {"redis.call('set',%s,%s)", "redis.call('get',%s)", "redis.pcall(%s)", "redis.call('hset','h',%s,%s)"}, "comparison": {"tostring(%s<'\\200')", "tostring('\\195\\169'<=%s)"}, "error": {"select(2,pcall(error,%s))"}, "loadstring": {"#loadstring('return \\''..%s..'\\'')()"},
	"bit.tobit": {"bit.tobit(string.byte(%s..'a'))"},
}

// TestFidelityOfLuaBytes calls each function of Lua's libraries that takes a text with texts that are no ASCII.
func TestFidelityOfLuaBytes(t *testing.T) {
	r, ours := startRedis(t), newReplica(t)
	r.setClock(scripttest.Start)
	for _, name := range strings.Fields(ours.run(scripttest.Start, evalStep("local n = '' for k in pairs(string) do n = n..' string.'..k end return n")).Text()) {
		if luaCalls[name] == nil && name != "string.dump" && name != "string.gfind" {
			t.Errorf("%s is not compared", name)
		}
	}
	for name, calls := range luaCalls {
		for _, call := range calls {
			for _, text := range luaTexts {
				args := make([]any, strings.Count(strings.ReplaceAll(call, "%%", ""), "%s"))
				for i := range args {
					args[i] = text
				}
				s := evalStep("return {" + fmt.Sprintf(call, args...) + "}")
				if we, they := scripttest.Print(ours.run(scripttest.Start, s)), scripttest.Print(r.do(s.Argv...)); we != they {
					t.Errorf("%s: %s\nRedis %s:\n%s\nwe:\n%s", name, s.Text, r.version, they, we)
				}
			}
		}
	}
}

// forgetRange has Redis's SORT judge its own numbers: it reads errno without having set it, where a number of a command before that was
// out of range may still be noted. What reads a coordinate sets it.
func (r *realRedis) forgetRange() {
	r.do([]byte("GEOSEARCH"), []byte("no such key"), []byte("FROMLONLAT"), []byte("1"), []byte("1"), []byte("BYRADIUS"), []byte("1"), []byte("m"))
}
