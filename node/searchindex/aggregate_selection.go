package searchindex

import (
	"regexp"
	"strconv"

	"github.com/trireme-dev/trireme/fsm/jsondoc"
	"github.com/trireme-dev/trireme/fsm/reply"
	"github.com/trireme-dev/trireme/fsm/search"
)

// selection is which keys of a $terms have a bucket. A nil test takes all.
type selection struct{ include, exclude func(text string) bool }

func (a *aggregation) selection() (s selection, err error) {
	if s.include, err = a.selects("include"); err != nil {
		return s, err
	}
	s.exclude, err = a.selects("exclude")
	return s, err
}

// takes reports whether a key has a bucket.
func (s *selection) takes(f *field, k bucketKey) bool {
	if s.include == nil && s.exclude == nil {
		return true
	}
	name := f.keyText(k)
	return (s.include == nil || s.include(name)) && (s.exclude == nil || !s.exclude(name))
}

// keyText is a key as a text.
func (f *field) keyText(k bucketKey) string {
	shown, text := f.keyReply(k)
	switch {
	case !text.IsNil():
		return text.Text()
	case shown.Kind() == reply.KindInt:
		return strconv.FormatInt(shown.Int(), 10)
	}
	return shown.Text()
}

// selects is the test that include or exclude make; nil if it is not there.
func (a *aggregation) selects(name string) (func(text string) bool, error) {
	switch v := a.args.get(name).(type) {
	case nil:
		return nil, nil
	case jsondoc.String:
		if len(v) > maxRegex {
			return nil, search.Errorf("Aggregation '%s': '%s' has at most %d bytes", a.alias, name, maxRegex)
		}
		size, err := new(programs).add(string(v))
		if err == errProgram {
			return nil, err
		}
		if !a.spend(compileWork * int64(size)) { // again for each bucket that it stands below
			return nil, a.err
		}
		re, err := regexp.Compile("^(?:" + string(v) + ")$")
		if err != nil {
			return nil, search.Errorf("Aggregation '%s': '%s' is an invalid pattern: %v", a.alias, name, err)
		}
		return func(text string) bool { return a.budget.spend(matchWork(size, text)) && re.MatchString(text) }, nil
	case *jsondoc.Array:
		return oneOf(v), nil
	default:
		a.args.wrong(name, "a pattern or an array", v)
		return nil, nil
	}
}

// oneOf is the test of being an element.
func oneOf(v *jsondoc.Array) func(text string) bool {
	set := map[string]bool{}
	v.All(func(_ int, e jsondoc.Value) bool {
		if s, ok := e.(jsondoc.String); ok {
			set[string(s)] = true
		} else if text, err := jsondoc.Text(e); err == nil {
			set[text] = true
		}
		return true
	})
	return func(text string) bool { return set[text] }
}
