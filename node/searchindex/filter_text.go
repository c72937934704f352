package searchindex

import (
	"cmp"
	"strings"

	"github.com/trireme-dev/trireme/fsm/jsondoc"
	"github.com/trireme-dev/trireme/fsm/search"
)

// phraseOf is a phrase, which of one word is that word, and of none nothing.
func phraseOf(f *field, list []string, slop int) node {
	switch len(list) {
	case 0:
		return &boolean{}
	case 1:
		return &word{f: f, text: list[0]}
	}
	return &phrase{f: f, terms: list, slop: slop}
}

const maxSlop = 1000

func (p *parser) phrase(f *field, v jsondoc.Value) (node, error) {
	text, others, err := options(f, "$phrase", v, "query", "slop", "prefix")
	if err != nil {
		return nil, err
	}
	slop, prefix := 0, false
	err = cmp.Or(small(f, others, "slop", maxSlop, &slop), flag(f, others, "prefix", &prefix))
	switch {
	case err != nil:
		return nil, err
	case prefix && slop > 0:
		return nil, search.Errorf("Field '%s': $phrase can't have both slop and prefix", f.Name)
	case prefix:
		return beginning(f, text), nil
	}
	return phraseOf(f, f.analyzer.tokens(text), slop), nil
}

// beginning is a phrase of which the last word is a beginning.
func beginning(f *field, text string) node {
	list := f.analyzer.tokens(text)
	if len(list) == 0 {
		return &boolean{}
	}
	last := lastWord(f, text, list[len(list)-1])
	if len(list) == 1 {
		return &near{f: f, z: fuzzy{word: []rune(last), prefix: true}}
	}
	list[len(list)-1] = last
	return &phrase{f: f, terms: list, prefix: true}
}

// lastWord is the last word of a text as a beginning: without its stem's changes, which only fit whole words, unless these
// only cut it.
func lastWord(f *field, text, stemmed string) string {
	if f.analyzer.whole || f.analyzer.stem == nil {
		return stemmed
	}
	plain := analyzer{}.tokens(text)
	if last := plain[len(plain)-1]; !strings.HasPrefix(last, stemmed) {
		return last
	}
	return stemmed
}

func (p *parser) fuzzy(f *field, v jsondoc.Value) (node, error) {
	text, others, err := options(f, "$fuzzy", v, "term", "distance", "transpositionCostOne", "prefix")
	if err != nil {
		return nil, err
	}
	z := fuzzy{distance: 1, swaps: true}
	err = cmp.Or(small(f, others, "distance", 2, &z.distance), flag(f, others, "transpositionCostOne", &z.swaps), flag(f, others, "prefix", &z.prefix))
	if err != nil {
		return nil, err
	}
	b := &boolean{}
	for _, t := range f.analyzer.tokens(text) {
		z.word = []rune(t)
		b.must = append(b.must, &near{f: f, z: z})
	}
	return b.plain(), nil
}

// The weights of $smart.
const (
	smartPhrase = 8
	smartSlop   = 4
	smartTerm   = 3
	slopOfSmart = 2
)

// smart is a plain value.
func (p *parser) smart(f *field, v jsondoc.Value) (node, error) {
	if f.Type != search.Text {
		return p.equal(f, "$smart", v)
	}
	s, ok := v.(jsondoc.String)
	if !ok {
		return nil, wrongValue(f, "$smart", "a string", v)
	}
	text := string(s)
	if len(text) >= 2 && text[0] == '"' && text[len(text)-1] == '"' {
		return phraseOf(f, f.analyzer.tokens(text[1:len(text)-1]), 0), nil
	}
	list := f.analyzer.tokens(text)
	if err := p.count(2 * len(list)); err != nil {
		return nil, err
	}
	return smartWords(f, list), nil
}

// smartWords finds words in any way: as a phrase, by themselves, misspelled, the last one as a beginning.
func smartWords(f *field, list []string) node {
	b := &boolean{}
	if len(list) > 1 {
		b.should = append(b.should, boosted(phraseOf(f, list, 0), smartPhrase), boosted(phraseOf(f, list, slopOfSmart), smartSlop))
	}
	for i, t := range list {
		letters := []rune(t)
		b.should = append(b.should, boosted(&word{f: f, text: t}, smartTerm), &near{f: f, z: fuzzy{word: letters, distance: 1, swaps: true}})
		if i == len(list)-1 {
			b.should = append(b.should, &near{f: f, z: fuzzy{word: letters, distance: 1, swaps: true, prefix: true}})
		}
	}
	return b
}
