package searchindex

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/arabic"
	"github.com/blevesearch/snowballstem/danish"
	"github.com/blevesearch/snowballstem/dutch"
	"github.com/blevesearch/snowballstem/english"
	"github.com/blevesearch/snowballstem/finnish"
	"github.com/blevesearch/snowballstem/french"
	"github.com/blevesearch/snowballstem/german"
	"github.com/blevesearch/snowballstem/hungarian"
	"github.com/blevesearch/snowballstem/italian"
	"github.com/blevesearch/snowballstem/norwegian"
	"github.com/blevesearch/snowballstem/portuguese"
	"github.com/blevesearch/snowballstem/romanian"
	"github.com/blevesearch/snowballstem/russian"
	"github.com/blevesearch/snowballstem/spanish"
	"github.com/blevesearch/snowballstem/swedish"
	"github.com/blevesearch/snowballstem/tamil"
	"github.com/blevesearch/snowballstem/turkish"
)

// maxToken is the longest token in bytes: longer ones are dropped.
const maxToken = 40

type stemmer func(*snowballstem.Env) bool

// stemmers maps languages to their stemmers. Greek has none.
var stemmers = map[string]stemmer{
	"arabic": arabic.Stem, "danish": danish.Stem, "dutch": dutch.Stem, "english": english.Stem, "finnish": finnish.Stem,
	"french": french.Stem, "german": german.Stem, "hungarian": hungarian.Stem, "italian": italian.Stem, "norwegian": norwegian.Stem,
	"portuguese": portuguese.Stem, "romanian": romanian.Stem, "russian": russian.Stem, "spanish": spanish.Stem, "swedish": swedish.Stem,
	"tamil": tamil.Stem, "turkish": turkish.Stem,
}

// analyzer cuts texts of a field into tokens.
type analyzer struct {
	whole bool
	stem  stemmer // nil: words stay as they are
}

// words calls f for every run of letters and digits of a text, until it returns false.
func words(text string, f func(start, end int) bool) {
	start := -1
	for i, r := range text {
		in := r < utf8.RuneSelf && ('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9') ||
			r >= utf8.RuneSelf && r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r))
		switch {
		case in && start < 0:
			start = i
		case !in && start >= 0:
			if !f(start, i) {
				return
			}
			start = -1
		}
	}
	if start >= 0 {
		f(start, len(text))
	}
}

// tokens are the terms of a text in order.
func (a analyzer) tokens(text string) (terms []string) {
	a.each(text, func(term string, _, _ int) bool {
		terms = append(terms, strings.Clone(term))
		return true
	})
	return terms
}

// each calls f for the tokens of a text in order, until it returns false. A term may share memory with the text.
func (a analyzer) each(text string, f func(term string, start, end int) bool) {
	if a.whole {
		if text != "" {
			f(strings.ToValidUTF8(text, "\ufffd"), 0, len(text))
		}
		return
	}
	var env *snowballstem.Env
	words(text, func(start, end int) bool {
		if end-start > maxToken {
			return true
		}
		term := strings.ToLower(text[start:end])
		if a.stem != nil {
			if env == nil {
				env = snowballstem.NewEnv(term)
			} else {
				env.SetCurrent(term)
			}
			a.stem(env)
			term = env.Current()
		}
		return term == "" || f(term, start, end)
	})
}
