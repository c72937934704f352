package searchindex

import (
	"regexp/syntax"

	"github.com/trireme-dev/trireme/fsm/search"
)

// budget is the work that a search may still do, in steps of about 100 ns. It ends early when nobody wants the answer any
// more or the node stops.
type budget struct {
	left         int64
	since        int64 // steps since done and closed were looked at
	due          int64 // steps that tell does not know of
	tell         func(steps int64)
	done, closed <-chan struct{}
	err          error // why the search has ended early, nil if it has not
}

// stepsPerCheck is the number of steps, about a millisecond, between two checks for cancellation.
const stepsPerCheck = 10_000

// The errors of a search that was not finished.
var (
	errWork    = search.Error("max request work exceeded by the search. Use a narrower filter. Setting: max-request-work")
	errGone    = search.Error("the request ended before the search did")
	errStopped = search.Error("the node is stopping")
)

// settle charges the request for the work of the search since the last call.
func (b *budget) settle() {
	if b.tell != nil && b.due > 0 {
		b.tell(b.due)
		b.due = 0
	}
}

// spend takes steps off the budget and reports whether the search may continue. After false it always returns false.
func (b *budget) spend(steps int64) bool {
	if b.err != nil {
		return false
	}
	b.left -= steps
	b.due += steps
	if b.since += steps; b.left < 0 {
		b.err = errWork
	} else if b.since >= stepsPerCheck {
		b.since = 0
		select {
		case <-b.done:
			b.err = errGone
		case <-b.closed:
			b.err = errStopped
		default:
		}
	}
	return b.err == nil
}

// What is done in a step.
const (
	docsPerStep     = 8   // that a list of documents has
	namesPerStep    = 512 // that a set of documents has room for
	cellsPerStep    = 16  // of a table of distances, or of a phrase's words and a text's
	elementsPerStep = 16  // of a regular expression, times the bytes that it looks at
	compileWork     = 4   // steps, to compile an element of a regular expression
	aggregatedDocs  = 2   // a document is looked at by one aggregation
)

// maxProgram is the size of all regular expressions of a request together.
const maxProgram = 20_000

var errProgram = search.Error("the regular expressions are too large together: they repeat too much")

// programs counts the sizes of a request's regular expressions.
type programs struct{ size int }

// add returns the size of an expression, or the error if there are too many.
func (p *programs) add(text string) (int, error) {
	tree, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return 0, err
	}
	n := elements(tree)
	if p.size += n; p.size > maxProgram {
		return 0, errProgram
	}
	return n, nil
}

// elements is about how many instructions the program of an expression has, maxProgram+1 at most.
func elements(tree *syntax.Regexp) int {
	n := 1 + len(tree.Rune)
	for _, sub := range tree.Sub {
		n = min(n+elements(sub), maxProgram+1)
	}
	if tree.Op == syntax.OpRepeat {
		n *= max(tree.Min, tree.Max, 1)
	}
	return min(n, maxProgram+1)
}

// matchWork is the work of matching a text with an expression of a size.
func matchWork(size int, text string) int64 {
	return 1 + int64(size)*int64(len(text))/elementsPerStep
}

// eval evaluates a condition. Every condition is evaluated by it, so that none is without a price.
func (s *searcher) eval(n node) matches {
	if !s.spend(1 + int64(len(s.x.names))/namesPerStep) {
		return matches{}
	}
	m := n.eval(s)
	if !s.spend(int64(len(m.docs)) / docsPerStep) {
		return matches{}
	}
	return m
}
