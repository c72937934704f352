package layout

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// TestReceiversAreInitials checks that all methods of a type have the same receiver, and that it is short for the type's name:
// see receiversOf.
func TestReceiversAreInitials(t *testing.T) {
	type named struct{ folder, typ string }
	first := map[named]string{}
	for _, f := range repository(t) {
		set := token.NewFileSet()
		parsed, err := parser.ParseFile(set, filepath.Join(root, f.Path), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range parsed.Decls {
			name, typ := receiverNames(d)
			if name == "" || name == "_" {
				continue
			}
			// A package and its external test may each have a type of the same name.
			key := named{f.Folder + " " + parsed.Name.Name, typ}
			want := receiversOf(typ)
			if first[key] != "" {
				want = []string{first[key]}
			}
			switch {
			case slices.Contains(want, name):
				first[key] = name
			default:
				t.Errorf("%s:%d: the receiver of a method of %s is %s, want %s", f.Path, set.Position(d.Pos()).Line, typ, name, strings.Join(want, " or "))
			}
		}
	}
}

// receiverNames returns the name of a method's receiver and the name of its type.
func receiverNames(d ast.Decl) (name, typ string) {
	fd, ok := d.(*ast.FuncDecl)
	if !ok || fd.Recv == nil || len(fd.Recv.List[0].Names) == 0 {
		return "", ""
	}
	return fd.Recv.List[0].Names[0].Name, receiver(fd.Recv.List[0].Type)
}

// receiversOf returns the receivers that a type may have: the initials of its words, of which the last two at most, the initial
// of the last word, or that word's first two letters. There is a choice because a
// receiver must not hide another name.
func receiversOf(typ string) []string {
	words := wordsOf(typ)
	initials := ""
	for _, w := range words {
		initials += strings.ToLower(w[:1])
	}
	last := strings.ToLower(words[len(words)-1])
	list := []string{initials[max(len(initials)-2, 0):], last[:1], last[:min(len(last), 2)]}
	slices.Sort(list)
	return slices.Compact(list)
}

// wordsOf splits a name in mixed case: "HTTPSender" has the words "HTTP" and "Sender".
func wordsOf(name string) (words []string) {
	runes, start := []rune(name), 0
	for i := 1; i < len(runes); i++ {
		begins := unicode.IsUpper(runes[i]) && (!unicode.IsUpper(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1]))
		if begins {
			words = append(words, string(runes[start:i]))
			start = i
		}
	}
	return append(words, string(runes[start:]))
}

func TestReceiversOf(t *testing.T) {
	for typ, want := range map[string]string{
		"Store":             "s st",
		"keyMap":            "km m ma",
		"HTTPSender":        "hs s se",
		"DB":                "d db",
		"FlowControlChange": "c cc ch",
		"overRESP":          "or r re",
		"T":                 "t",
	} {
		if got := strings.Join(receiversOf(typ), " "); got != want {
			t.Errorf("receivers of %s: got %q, want %q", typ, got, want)
		}
	}
}
