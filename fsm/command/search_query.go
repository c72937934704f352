package command

import (
	"fmt"
	"slices"
	"strings"

	"github.com/trireme-dev/trireme/fsm/ascii"
	"github.com/trireme-dev/trireme/fsm/reply"
	"github.com/trireme-dev/trireme/fsm/search"
)

// The bounds of queries.
const (
	defaultHits   = 10
	maxHits       = 1000
	maxHitsOffset = 10_000
	maxFilter     = 64 << 10 // bytes of a filter, and of aggregations
)

var errFilterSize = fmt.Sprintf("ERR a filter, and aggregations, have at most %d bytes", maxFilter)

// searchWords is a query with the options for its results.
type searchWords struct {
	search.Query
	noContent   bool
	selected    []string // nil: everything
	open, close string
}

// filter is the next word as JSON.
func (a *Args) filter() []byte {
	b := a.Bytes()
	if len(b) > maxFilter {
		a.Fail(reply.Error(errFilterSize))
	}
	return b
}

// searchFields reads a count and so many fields. Clients send a count of 0 for an empty list: it is not nil.
func (a *Args) searchFields() []string {
	n := a.Int()
	if !a.bad && (n < 0 || n > search.MaxFields) {
		a.Fail(reply.Error(fmt.Sprintf("ERR the number of fields must be between 0 and %d", search.MaxFields)))
	}
	names := []string{}
	for range n {
		if a.bad {
			return nil
		}
		names = append(names, a.String())
	}
	return names
}

func (a *Args) searchQuery() searchWords {
	q := searchWords{Query: search.Query{Filter: a.filter(), Limit: defaultHits}, open: "<em>", close: "</em>"}
	for a.Left() > 0 && !a.bad {
		switch {
		case a.Word("LIMIT"):
			n := a.IntOr(errSearchLimit)
			if n < 1 || n > maxHits {
				a.Fail(errSearchLimit)
			}
			q.Limit = int(n)
		case a.Word("OFFSET"):
			refused := reply.Error(fmt.Sprintf("ERR offset should be a number from 0 to %d", maxHitsOffset))
			n := a.IntOr(refused)
			if n < 0 || n > maxHitsOffset {
				a.Fail(refused)
			}
			q.Offset = int(n)
		case a.Word("NOCONTENT"):
			q.noContent = true
		case q.OrderBy == "" && a.Word("ORDERBY"):
			q.OrderBy, q.Descending = a.String(), true
			if a.Word("ASC") {
				q.Descending = false
			} else {
				a.Word("DESC")
			}
		case q.selected == nil && a.Word("SELECT"):
			q.selected = a.searchFields()
		case q.Highlight == nil && a.Word("HIGHLIGHT"):
			if !a.Word("FIELDS") {
				a.Fail(ErrSyntax)
			}
			q.Highlight = a.searchFields()
			if a.Word("TAGS") {
				if q.open, q.close = a.String(), a.String(); max(len(q.open), len(q.close)) > search.MaxName {
					a.Fail(reply.Error(fmt.Sprintf("ERR a tag of HIGHLIGHT has at most %d bytes", search.MaxName)))
				}
			}
		case q.Score == nil && a.Word("SCOREFUNC"):
			q.Score = a.scoreFunction()
		default:
			a.Fail(ErrSyntax)
		}
	}
	switch {
	case q.noContent && len(q.selected)+len(q.Highlight) > 0:
		a.Fail(reply.Error("ERR NOCONTENT can't stand with SELECT or HIGHLIGHT"))
	case q.Score != nil && q.OrderBy != "":
		a.Fail(reply.Error("ERR SCOREFUNC can't stand with ORDERBY"))
	}
	return q
}

var scoreModifiers = []string{"NONE", "LOG", "LOG1P", "LOG2P", "LN", "LN1P", "LN2P", "SQUARE", "SQRT", "RECIPROCAL"}

// scoreFunction reads what follows SCOREFUNC.
func (a *Args) scoreFunction() *search.ScoreFunction {
	f := &search.ScoreFunction{}
	for !a.bad {
		switch {
		case a.Word("SCOREMODE"):
			f.Mode = a.combine(true)
		case a.Word("COMBINEMODE"):
			f.Among = a.combine(false)
		case a.Word("FIELDVALUE"):
			v := search.FieldValue{Field: a.String(), Modifier: "NONE", Factor: 1}
			a.fieldValue(&v)
			if f.Values = append(f.Values, v); len(f.Values) > search.MaxFields {
				a.Fail(ErrSyntax)
			}
		default:
			if len(f.Values) == 0 {
				a.Fail(ErrSyntax)
			}
			return f
		}
	}
	return f
}

func (a *Args) fieldValue(v *search.FieldValue) {
	for !a.bad {
		switch {
		case a.Word("MODIFIER"):
			v.Modifier = ascii.Upper(a.String())
			if !slices.Contains(scoreModifiers, v.Modifier) {
				a.Fail(reply.Error("ERR MODIFIER must be one of " + strings.Join(scoreModifiers, ", ")))
			}
		case a.Word("FACTOR"):
			v.Factor = a.finite()
		case a.Word("MISSING"):
			v.Missing = a.finite()
		default:
			return
		}
	}
}

// finite is the next word as a finite number.
func (a *Args) finite() float64 {
	f := a.Double()
	if f-f != 0 {
		a.Fail(ErrNotFloat)
		return 0
	}
	return f
}

func (a *Args) combine(replace bool) search.Combine {
	switch {
	case a.Word("SUM"):
		return search.Sum
	case a.Word("MULTIPLY"):
		return search.Multiply
	case replace && a.Word("REPLACE"):
		return search.Replace
	case replace:
		a.Fail(reply.Error("ERR SCOREMODE must be SUM, MULTIPLY or REPLACE"))
	default:
		a.Fail(reply.Error("ERR COMBINEMODE must be SUM or MULTIPLY"))
	}
	return search.Multiply
}

func searchQuery(tx *Tx, a *Args) reply.Value {
	name := a.String()
	q := a.searchQuery()
	if err, ok := a.Done(); !ok {
		return err
	}
	d, refusal := tx.findSearch(a, name)
	switch {
	case refusal != nil:
		return *refusal
	case d == nil:
		return reply.NilArray()
	case tx.run != nil && !q.noContent:
		return reply.Error("ERR SEARCH.QUERY in a script needs NOCONTENT")
	}
	hits, err := tx.Search.Index.Query(tx.searchPoint(), d, &q.Query)
	if err != nil {
		return searchError(err)
	}
	list := make([]reply.Value, 0, len(hits.List))
	for i := range hits.List {
		h := &hits.List[i]
		score := reply.Number(h.Score)
		switch {
		case h.Shown != "":
			score = reply.Bulk(h.Shown)
		case q.OrderBy != "":
			score = reply.Nil()
		}
		if q.noContent {
			list = append(list, reply.Array(reply.Bulk(h.Key), score))
			continue
		}
		fields, ok := tx.searchContent(d, h.Key, &q, hits.Highlight)
		if !ok { // gone since the index saw it
			continue
		}
		list = append(list, reply.Array(reply.Bulk(h.Key), score, reply.Array(fields...)))
	}
	return reply.Array(list...)
}

func searchCount(tx *Tx, a *Args) reply.Value {
	name, filter := a.String(), a.filter()
	if err, ok := a.Done(); !ok {
		return err
	}
	d, refusal := tx.findSearch(a, name)
	switch {
	case refusal != nil:
		return *refusal
	case d == nil:
		return reply.Int(-1)
	}
	n, err := tx.Search.Index.Count(tx.searchPoint(), d, filter)
	if err != nil {
		return searchError(err)
	}
	return reply.Int(n)
}

func searchAggregate(tx *Tx, a *Args) reply.Value {
	name, filter, aggregations := a.String(), a.filter(), a.filter()
	if err, ok := a.Done(); !ok {
		return err
	}
	d, refusal := tx.findSearch(a, name)
	switch {
	case refusal != nil:
		return *refusal
	case d == nil:
		return reply.Nil()
	}
	v, err := tx.Search.Index.Aggregate(tx.searchPoint(), d, filter, aggregations)
	if err != nil {
		return searchError(err)
	}
	return v
}

func searchWait(tx *Tx, a *Args) reply.Value {
	name := a.String()
	if err, ok := a.Done(); !ok {
		return err
	}
	d, refusal := tx.findSearch(a, name)
	switch {
	case refusal != nil:
		return *refusal
	case d == nil:
		return reply.Int(0)
	}
	if err := tx.Search.Index.Wait(tx.searchPoint(), d); err != nil {
		return searchError(err)
	}
	return reply.Int(1)
}
