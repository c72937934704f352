package sealed

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/trireme-dev/trireme/fsm/payload"
	"github.com/trireme-dev/trireme/fsm/wire"
)

// TestNumbers holds sets to slices.
func TestNumbers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOfN(rapid.Uint64Range(0, 1<<rapid.IntRange(1, 63).Draw(t, "bits")), 0, 40).Draw(t, "list")
		set := NumbersOf(slices.Clone(list))
		sorted := slices.Compact(slices.Sorted(slices.Values(list)))
		var all []uint64
		set.Each(func(n uint64) bool {
			all = append(all, n)
			return true
		})
		if !slices.Equal(all, sorted) {
			t.Fatalf("%v, want %v", all, sorted)
		}
		n := rapid.Uint64().Draw(t, "n")
		if len(list) > 0 && rapid.Bool().Draw(t, "one of them") {
			n = list[rapid.IntRange(0, len(list)-1).Draw(t, "at")]
		}
		below := uint64(0)
		for _, other := range sorted {
			if other < n {
				below = other
			}
		}
		if set.Has(n) != slices.Contains(list, n) || set.Below(n) != below {
			t.Fatalf("%d in %v: %v, below it is %d", n, sorted, set.Has(n), set.Below(n))
		}
	})
}

// TestDamagedNumbers: any bytes are a set of something.
func TestDamagedNumbers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		set := Numbers(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes"))
		set.Has(rapid.Uint64().Draw(t, "n"))
		set.Below(rapid.Uint64().Draw(t, "m"))
	})
}

// TestWords: every word that was put in is found, and one in two thousand others, about.
func TestWords(t *testing.T) {
	for _, n := range []int{1, 7, 100, 2000} {
		var list []Word
		for i := range n {
			list = append(list, WordOf('l', fmt.Sprint("label", i)))
		}
		words, wrong := WordsOf(slices.Clone(list)), 0
		for i := range 20_000 {
			if i < n && !words.MayHave(list[i]) {
				t.Fatalf("word %d of %d is not found", i, n)
			}
			if words.MayHave(WordOf('l', fmt.Sprint("other", i))) {
				wrong++
			}
		}
		if wrong > 20_000*2/1000 {
			t.Errorf("of %d words, %d others of 20000 are found", n, wrong)
		}
	}
	if Words("").MayHave(1) {
		t.Error("a filter without words has one")
	}
}

// TestNoWordIsEverywhere: a word that none of many filters has is found in few of them, whatever the word. A history of 20,000,000
// messages has a hundred thousand filters, and whoever asks for a word of which the bits fall together opens all that seem to have it.
func TestNoWordIsEverywhere(t *testing.T) {
	filters := make([]Words, 1000)
	for i := range filters {
		var list []Word
		for n := range 30 + i%3 {
			list = append(list, WordOf('l', fmt.Sprint("order-", i, "-", n)))
		}
		filters[i] = WordsOf(list)
	}
	worst, most := "", 0
	for i := range 5000 {
		text, found := fmt.Sprint("order-", i), 0
		for _, f := range filters {
			if f.MayHave(WordOf('l', text)) {
				found++
			}
		}
		if found > most {
			worst, most = text, found
		}
	}
	if most > len(filters)/100 {
		t.Errorf("%s is found in %d of %d filters that do not have it", worst, most, len(filters))
	}
}

// TestVolumes holds a list of volumes, its forks and what it counts to a slice.
func TestVolumes(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var list Volumes
	var model []*Volume
	no := uint64(1)
	for range 3000 {
		if r.IntN(3) > 0 {
			n := uint64(1 + r.IntN(9))
			v := &Volume{Count: int(n), First: no, Last: no + n - 1, Records: payload.New(make([]byte, 1+r.IntN(3000)), nil), Words: WordsOf([]Word{Word(no)})}
			no += n + uint64(r.IntN(2))
			list.Add(v)
			model = append(model, v)
		} else if len(model) > 0 {
			if list.Oldest() != model[0] {
				t.Fatal("another volume is the oldest")
			}
			list.DropOldest()
			model = model[1:]
		}
		fork := list.Fork()
		var size, counted int64
		records := 0
		for _, v := range model {
			size, counted, records = size+v.Size(), counted+v.Counted(), records+v.Count
		}
		if fork.Len() != len(model) || fork.Size() != size || fork.Counted() != counted || fork.Records() != records {
			t.Fatalf("%d volumes of %d, %d bytes of %d", fork.Len(), len(model), fork.Size(), size)
		}
		at := uint64(r.Int64N(int64(no) + 2))
		var want *Volume
		for _, v := range model {
			if v.First <= at && at <= v.Last {
				want = v
			}
		}
		if got := fork.Of(at); got != want {
			t.Fatalf("record %d is in %+v, want %+v", at, got, want)
		}
	}
}

// TestVolumeIsSaved: what is written of a volume is read as it was.
func TestVolumeIsSaved(t *testing.T) {
	v := &Volume{
		Count: 3, First: 7, Last: 9, From: 100, To: 200, Kinds: []uint32{1, 0, 2}, Sets: []Numbers{NumbersOf([]uint64{3, 1, 2}), ""}, Words: WordsOf([]Word{1, 2}),
		Records: payload.New([]byte("records"), nil), Apart: []payload.Payload{payload.New(make([]byte, 5000), nil)},
	}
	var read Volume
	if err := wire.Unmarshal(wire.Marshal(v), &read); err != nil || !read.Valid() {
		t.Fatal(err)
	}
	for _, kinds := range [][]uint32{{1, 0, 3}, append(make([]uint32, 40), 3)} { // which a crafted backup may have
		bad := read
		if bad.Kinds = kinds; bad.Valid() {
			t.Errorf("%v are kinds of three records", kinds)
		}
	}
	read.Keep(nil)
	if a, b := fmt.Sprint(read.Size(), read.Counted(), string(read.Records.Bytes()), read.Apart[0].Len(), read.Sets, read.Words, read.Kinds, read.From, read.To), fmt.Sprint(v.Size(), v.Counted(), "records", 5000, v.Sets, v.Words, v.Kinds, v.From, v.To); a != b {
		t.Errorf("%q, want %q", a, b)
	}
}
