package search

import (
	"fmt"

	"github.com/trireme-dev/trireme/fsm/reply"
)

// Point is the state at which a read queries an index, with its limits.
type Point struct {
	// Database is the number of the database, Name its name.
	Database uint64
	Name     string
	// Index is the log index of the state that is read: the index has to hold every change up to it.
	Index uint64
	// Now and Wall are cluster time and wall time of the read in unix milliseconds.
	Now, Wall int64
	// Work is the most steps of a search. Spend, which may be nil, is called with the number it has done.
	Work  int64
	Spend func(steps int64)
	// Memory is the most bytes of the indexes of the database, 0 for no limit but that of the node.
	Memory int64
	// Done closes when the answer is no longer wanted; it may be nil.
	Done <-chan struct{}
}

// Index is a node's own indexes. Its methods wait until the index holds what Point asks for;
// their errors are for clients, without a class.
type Index interface {
	// Query finds documents.
	Query(p Point, d *Definition, q *Query) (*Hits, error)
	// Count returns how many documents match a filter.
	Count(p Point, d *Definition, filter []byte) (int64, error)
	// Aggregate computes aggregations of the documents that match a filter.
	Aggregate(p Point, d *Definition, filter, aggregations []byte) (reply.Value, error)
	// Wait waits until the index holds everything up to the point.
	Wait(p Point, d *Definition) error
	// Status says how far the index is, without waiting.
	Status(p Point, d *Definition) Status
}

// Status is the state of a node's index.
type Status struct {
	Documents int64
	// Bytes is about how much memory the index takes.
	Bytes int64
	// Pending is the number of keys that are still to be indexed.
	Pending int64
	// Suspended says why the node has dropped what it had of the index: nil if it has not.
	Suspended error
	// LeftOut is the number of documents that did not fit under the limit.
	LeftOut int64
	// Unstemmed says that there is no stemmer for the language.
	Unstemmed bool
}

// Query is the request of SEARCH.QUERY.
type Query struct {
	Filter        []byte
	Limit, Offset int
	// OrderBy is a field, empty for the order of scores.
	OrderBy    string
	Descending bool
	Score      *ScoreFunction
	// Highlight are the fields of which Hits.Highlight will be asked.
	Highlight []string
}

// Combine says how two scores become one.
type Combine uint8

// The ways.
const (
	Multiply Combine = iota
	Sum
	Replace // by the second
)

// ScoreFunction makes scores depend on fields.
type ScoreFunction struct {
	// Mode joins the values with the score of the text, Among the values with each other.
	Mode, Among Combine
	Values      []FieldValue
}

// FieldValue is one field of a ScoreFunction.
type FieldValue struct {
	Field    string
	Modifier string // in upper case
	Factor   float64
	Missing  float64
}

// Hit is a document that was found.
type Hit struct {
	// Key is that of the document; of a stream index, the id of the entry.
	Key   string
	Score float64
	// Shown is the value that the documents were sorted by, empty if they were sorted by score.
	Shown string
}

// Hits are documents that were found, in their order.
type Hits struct {
	List []Hit
	// Highlight returns a value of a field with tags around what the filter asked for. It is work of the search: where
	// that has no more, it returns the value as it is.
	Highlight func(field, value, open, close string) string
}

// Error describes a mistake of the client.
type Error string

func (e Error) Error() string { return string(e) }

// Errorf is an Error of a format.
func Errorf(format string, args ...any) Error { return Error(fmt.Sprintf(format, args...)) }
