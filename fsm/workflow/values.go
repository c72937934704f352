package workflow

import (
	"strings"

	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/wire"
)

// A run that asks for it keeps values of keys, as they were right after the commands of each step. Forks take them into a database where
// nothing of it is real.

// The limits of the values that a run keeps.
const (
	// MaxKeptValue is the most bytes of one value, in memory and as DUMP gives it.
	MaxKeptValue = 64 << 10
	// MaxKeptBytes is the most bytes of all values, as DUMP gives them.
	MaxKeptBytes = 1 << 20
	// MaxKeptValues is the most values, those among them that were left out.
	MaxKeptValues = 100
)

// KeptValue is the value of a key after the commands of a step.
type KeptValue struct {
	Step uint32
	Key  string
	// Type is empty if there was no such key.
	Type string
	// Dump is what DUMP gives, empty if it was left out: Size is the number of its bytes, or of those in memory.
	Dump []byte
	Size int64
	// Expires is the deadline by wall time, in unix milliseconds; 0 if there is none.
	Expires int64
}

// Omitted reports whether there was a value for which there was no room.
func (kv *KeptValue) Omitted() bool { return kv.Type != "" && len(kv.Dump) == 0 }

// Fields codes the value in its wire format.
func (kv *KeptValue) Fields(c *wire.Codec) {
	wire.Uint(c, &kv.Step)
	c.Text(&kv.Key)
	c.Text(&kv.Type)
	c.Bytes(&kv.Dump)
	c.Varint(&kv.Size)
	c.Varint(&kv.Expires)
}

// keptValueCost is the logical overhead of a KeptValue in bytes.
const keptValueCost = 140

func (kv *KeptValue) size() int64 { return keptValueCost + int64(len(kv.Key)+len(kv.Dump)) }

// Keeps reports whether names, of which one with an asterisk at its end is the beginning of names, have a name.
func Keeps(names []string, name string) bool {
	for _, n := range names {
		if prefix, is := strings.CutSuffix(n, "*"); n == name || is && strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// ValueRoom returns how many values, and bytes of them, a run may still keep.
func (r *Run) ValueRoom() (values, bytes int) {
	values, bytes = MaxKeptValues, MaxKeptBytes
	if r.Data == nil {
		return values, bytes
	}
	for i := range r.Data.Values {
		values, bytes = values-1, bytes-len(r.Data.Values[i].Dump)
	}
	return values, bytes
}

// KeepValues keeps values with a step of a run. Of one that finds no room it notes that it was left out, or, if there are as many as there
// may be, only how many there were beyond: more counts those that were not even looked at.
func (s *Store) KeepValues(e *env.Env, r *Run, step *Step, list []KeptValue, more int, room func(bytes int64) bool) {
	if len(list) == 0 && more == 0 {
		return
	}
	k := s.edit(e, nil, r)
	k.change(func(d *Data) {
		kept := append([]KeptValue(nil), d.Values...)
		for _, v := range list {
			v.Step = step.Number()
			if !room(v.size()) {
				if v.Dump = nil; !room(v.size()) {
					more++
					continue
				}
			}
			v.Key = ownedText(v.Key)
			kept = append(kept, v)
		}
		d.Values, d.ValuesMissed = kept, d.ValuesMissed+uint64(more)
	})
	k.store()
}
