package report

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// Verdict says what became of a row.
type Verdict string

// The verdicts, from best to worst.
const (
	Aim     Verdict = "aim reached"
	Holds   Verdict = "holds"
	Missed  Verdict = "MISSED"
	NoPeer  Verdict = "peer missing"
	Failed  Verdict = "FAILED"
	Pending Verdict = "not run"
)

// Pair is a measurement of the product and one of the peer, taken in turns.
// For rows without a peer, Peer is zero and Value is Ours.
type Pair struct {
	Ours  float64 `json:"ours"`
	Peer  float64 `json:"peer,omitempty"`
	Value float64 `json:"value"` // what is judged: the ratio, or Ours
}

// Row is one line of the table in the performance plan.
type Row struct {
	ID      string  `json:"row"`            // number in the plan
	Part    string  `json:"part,omitempty"` // tells the figures of one number apart
	Work    string  `json:"work"`
	Against string  `json:"against"`
	Unit    string  `json:"unit"` // of Ours and Peer
	Ratio   bool    `json:"ratio"`
	AtMost  bool    `json:"at_most"` // smaller is better
	Line    float64 `json:"line"`
	AimAt   float64 `json:"aim"`
	AimOurs bool    `json:"aim_ours,omitempty"` // the aim is for the median of Ours, not for the ratio

	Pairs    []Pair    `json:"pairs,omitempty"`
	Median   float64   `json:"median"` // of Value
	Q1       float64   `json:"q1"`
	Q3       float64   `json:"q3"`
	Max      float64   `json:"max"`
	OursMid  float64   `json:"ours_median"`
	PeerMid  float64   `json:"peer_median,omitempty"`
	Verdict  Verdict   `json:"verdict"`
	Reason   string    `json:"reason,omitempty"`
	Notes    []string  `json:"notes,omitempty"`
	Measured time.Time `json:"measured"`
}

// Add appends one pair; a ratio row divides ours by the peer's figure.
func (r *Row) Add(ours, peer float64) {
	p := Pair{Ours: ours, Peer: peer, Value: ours}
	if r.Ratio {
		p.Value = ours / peer
	}
	r.Pairs = append(r.Pairs, p)
}

// Note adds a remark that the table prints below the row.
func (r *Row) Note(format string, args ...any) {
	r.Notes = append(r.Notes, fmt.Sprintf(format, args...))
}

// Fail gives the row up, for the reason err.
func (r *Row) Fail(v Verdict, err error) {
	r.Verdict, r.Reason, r.Measured = v, err.Error(), time.Now().UTC()
}

// Enough is the number of pairs below which a ratio proves nothing.
const Enough = 7

// Judge computes the medians and the verdict from the pairs.
func (r *Row) Judge() {
	r.Measured = time.Now().UTC()
	var values, ours, peer []float64
	for _, p := range r.Pairs {
		values, ours, peer = append(values, p.Value), append(ours, p.Ours), append(peer, p.Peer)
	}
	if len(values) == 0 || slices.ContainsFunc(values, unusable) {
		r.Fail(Failed, fmt.Errorf("no usable pair"))
		return
	}
	r.Median, r.Q1, r.Q3, r.Max = Quantile(values, .5), Quantile(values, .25), Quantile(values, .75), slices.Max(values)
	r.OursMid, r.PeerMid = Quantile(ours, .5), Quantile(peer, .5)
	if r.Ratio && len(r.Pairs) < Enough {
		r.Note("only %d pairs: a trial, no proof", len(r.Pairs))
	}
	aimed := r.Median
	if r.AimOurs {
		aimed = r.OursMid
	}
	switch {
	case !r.reaches(r.Median, r.Line):
		r.Verdict = Missed
	case r.reaches(aimed, r.AimAt):
		r.Verdict = Aim
	default:
		r.Verdict = Holds
	}
}

// reaches compares in the row's direction.
func (r *Row) reaches(value, bound float64) bool {
	if r.AtMost {
		return value <= bound
	}
	return value >= bound
}

// Quantile is the q-quantile of vs, interpolated between neighbours; NaN for
// none.
func Quantile(vs []float64, q float64) float64 {
	if len(vs) == 0 {
		return math.NaN()
	}
	s := slices.Sorted(slices.Values(vs))
	at := q * float64(len(s)-1)
	low := int(at)
	high := min(low+1, len(s)-1)
	return s[low] + (s[high]-s[low])*(at-float64(low))
}

// unusable tells values that come of dividing by nothing.
func unusable(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }
