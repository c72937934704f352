package env

// Price is the work and the growth of an operation, computed from its argument and the state before it is done.
type Price struct {
	// Work is in steps of about 100 ns, as command.Tx counts them: an element looked at, or 64 bytes read or written.
	Work int64
	// Growth is the logical bytes that stay, with what they are multiplied by, as the stores count them. It is never less than
	// what is added, and little more.
	Growth int64
}

// Add adds another price.
func (p *Price) Add(o Price) { p.Work, p.Growth = p.Work+o.Work, p.Growth+o.Growth }

// Times is the price of so many.
func (p Price) Times(n int) Price { return Price{p.Work * int64(n), p.Growth * int64(n)} }

// BytesPerWork is the number of bytes that are read or written in a step.
const BytesPerWork = 64

// Sum is the price of a list. It looks no further when the work is above limit.
func Sum[T any](list []T, limit int64, price func(*T) Price) (sum Price) {
	for i := range list {
		if sum.Add(price(&list[i])); sum.Work > limit {
			break
		}
	}
	return sum
}
