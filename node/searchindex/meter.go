package searchindex

// The memory of parts of an index in bytes, about. TestEstimateOfMemory compares them with the heap.
const (
	indexCost    = 1024 // of an index without fields
	fieldCost    = 256  // of a field, and of what it shares with others
	treeCost     = 1536 // of a tree with a value, beside these
	documentCost = 96   // beside its name
	dueCost      = 96   // of a document that has a deadline
	placeCost    = 28   // of a document in a field with texts
	columnCost   = 9    // of a document in a field with numbers
	streamCost   = 16   // of a document's tokens, beside these
	tokenCost    = 4
	termCost     = 224 // beside its text
	numberCost   = 168
	postingCost  = 8
	severalCost  = 64 // of a document's numbers beside these, if it has several
	entryCost    = 20 // of an entry of a stream that was looked at
)

// An index may grow by meterStep bytes before it asks for more.
const meterStep = 64 << 10

// meter counts the memory of an index while it is filled. Whoever fills an index stops once the meter is full.
type meter struct {
	bytes int64 // that the index takes
	due   int64 // of these, what take does not know of
	full  bool
	take  func(n int64) bool // asks for n bytes more, gives back if n < 0; nil: there is no limit
}

// grow counts n bytes more, or fewer, and reports whether there is room for them.
func (m *meter) grow(n int64) bool {
	m.bytes += n
	m.due += n
	if m.due >= meterStep || m.due <= -meterStep {
		m.settle()
	}
	return !m.full
}

// settle asks for what was counted since it was asked last.
func (m *meter) settle() {
	if m.take != nil && m.due != 0 && !m.take(m.due) {
		m.full = true
	}
	m.due = 0
}
