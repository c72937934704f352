package command

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/trireme-dev/trireme/fsm/keyspace"
)

// keyPattern names a key, or the field of a hash, for every element: the element stands
// in for the first asterisk. A lone number sign is the element itself.
type keyPattern struct {
	self, valid   bool
	before, after string
	field         string // of a hash, empty for the value of a string
}

func newKeyPattern(pattern []byte) (p keyPattern) {
	p.self = string(pattern) == "#"
	at := bytes.IndexByte(pattern, '*')
	if at < 0 {
		return p
	}
	p.valid, p.before, p.after = true, string(pattern[:at]), string(pattern[at+1:])
	if name, field, ok := strings.Cut(p.after, "->"); ok && field != "" {
		p.after, p.field = name, field
	}
	return p
}

// look returns the text that the pattern names for an element. It finds none without an asterisk,
// without the key, or with a value of another type.
func (p *keyPattern) look(tx *Tx, element string) (text string, ok bool) {
	switch {
	case p.self:
		return element, true
	case !p.valid:
		return "", false
	}
	o := tx.DB.Find(tx.Env, []byte(p.before+element+p.after))
	switch {
	case o == nil:
		return "", false
	case p.field == "" && o.Type() == keyspace.String:
		tx.work.used += int64(o.Len() / bytesPerWork)
		return o.Text(), true
	case p.field == "":
		return "", false
	}
	hash, ok := o.Data().(*keyspace.Fields)
	if !ok {
		return "", false
	}
	text, _, ok = hash.Get(tx.Time, p.field)
	tx.work.used += int64(len(text) / bytesPerWork)
	return text, ok
}

// sortItem is an element with what it is sorted by.
type sortItem struct {
	element string
	number  float64
	text    string
	known   bool // there is a text
}

// sorted are the elements that the options ask for, in order; it is not ok if one has no
// number to be sorted by.
func (o *sortOptions) sorted(tx *Tx, source *keyspace.Object) (elements []string, ok bool) {
	all := elementsOf(tx, source)
	n := int64(len(all))
	from := min(max(o.start, 0), n)
	to := n
	if o.count >= 0 {
		to = from + min(o.count, n-from)
	}
	if !o.unsorted {
		cut := (from > 0 || to < n) && o.by != nil
		if all, ok = o.order(tx, all, cut, int(to)); !ok {
			return nil, false
		}
	} else if o.descending && source.Type() != keyspace.Set {
		slices.Reverse(all) // these have an order of their own
	}
	return all[from:to], true
}

// elementsOf are the elements of a list, a set or a sorted set in its order.
func elementsOf(tx *Tx, o *keyspace.Object) (all []string) {
	if o == nil {
		return nil
	}
	add := func(element string) bool {
		tx.CountSteps(stepsPerElement)
		all = append(all, element)
		return true
	}
	switch c := o.Data().(type) {
	case *keyspace.Elements:
		all = make([]string, 0, c.Len())
		c.Ascend(0, func(_ int, v string) bool { return add(v) })
	case *keyspace.Members:
		all = make([]string, 0, c.Len())
		c.All(add)
	case *keyspace.ZSet:
		all = make([]string, 0, c.Len())
		c.Each(0, func(s keyspace.Scored) bool { return add(s.Member) })
	}
	return all
}

// order sorts elements, or brings the first ones to the front if the result is cut. Where Redis leaves it open, the order before
// decides, but not in a result that is cut.
func (o *sortOptions) order(tx *Tx, all []string, cut bool, first int) ([]string, bool) {
	items := make([]sortItem, len(all))
	for i, element := range all {
		tx.CountSteps(stepsPerElement)
		item := sortItem{element: element, text: element, known: true}
		if o.by != nil {
			item.text, item.known = o.by.look(tx, element)
		}
		if !o.alpha && item.known {
			var ok bool
			if item.number, ok = sortNumber(item.text); !ok {
				return nil, false
			}
		}
		items[i] = item
	}
	compare := func(a, b sortItem) int {
		tx.CountSteps(stepsPerMatch)
		return o.compare(a, b)
	}
	if cut {
		sortFirst(items, first, compare)
	} else {
		slices.SortStableFunc(items, compare)
	}
	for i := range items {
		all[i] = items[i].element
	}
	return all, true
}

// compare orders by number, or by text where what is missing comes first.
func (o *sortOptions) compare(a, b sortItem) (order int) {
	switch {
	case !o.alpha:
		if order = cmp.Compare(a.number, b.number); order == 0 {
			order = strings.Compare(a.element, b.element)
		}
	case a.known && b.known:
		order = strings.Compare(a.text, b.text)
	case a.known:
		order = 1
	case b.known:
		order = -1
	}
	if o.descending {
		return -order
	}
	return order
}

// sortNumber reads a number to sort by, as strtodPrefix does.
func sortNumber(text string) (float64, bool) {
	number, none := strtodPrefix(text)
	if none {
		return 0, true
	}
	return parseDoubleString(number)
}
