package keyspace

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestWriteAt writes to strings around the length where they get pages, with forks and
// copies in between, and compares with plain bytes.
func TestWriteAt(t *testing.T) {
	type kept struct {
		db   *DB
		want map[string]string
	}
	rapid.Check(t, func(t *rapid.T) {
		db, want := New(), map[string]string{}
		var forks []kept
		for i := range rapid.IntRange(1, 40).Draw(t, "steps") {
			e := entry(uint64(i+1), 1000)
			key, other := rapid.SampledFrom([]string{"a", "b"}).Draw(t, "key"), rapid.SampledFrom([]string{"a", "b"}).Draw(t, "other")
			o := db.Find(e, []byte(key))
			switch op := rapid.IntRange(0, 9).Draw(t, "op"); {
			case op <= 5:
				offset := rapid.OneOf(rapid.IntRange(0, 100), rapid.IntRange(0, 5*pageSize)).Draw(t, "offset")
				part := strings.Repeat(rapid.StringN(1, 3, 3).Draw(t, "part"), rapid.SampledFrom([]int{0, 1, 2, 2000}).Draw(t, "times"))
				if got := db.WriteAt(e, []byte(key), o, offset, []byte(part)); got != max(len(want[key]), offset+len(part)) {
					t.Fatalf("length %d", got)
				}
				flat := make([]byte, max(len(want[key]), offset+len(part)))
				copy(flat, want[key])
				copy(flat[offset:], part)
				want[key] = string(flat)
			case op == 6 && o != nil && key != other:
				db.Copy(e, o, []byte(other))
				want[other] = want[key]
			case op == 7:
				db.AppendText(e, []byte(key), o, []byte("+"))
				want[key] += "+"
			case op == 8:
				forks = append(forks, kept{db.Fork(), clone(want)})
			case op == 9:
				forks = append(forks, kept{db, clone(want)})
				db = db.Fork()
			}
		}
		forks = append(forks, kept{db, want})
		for _, f := range forks {
			checkWhole(t, f.db)
			checkTexts(t, f.db, f.want)
			again, err := load(records(t, f.db))
			if err != nil {
				t.Fatal(err)
			}
			checkTexts(t, again, f.want)
		}
	})
}

func clone(m map[string]string) map[string]string {
	c := map[string]string{}
	for k, v := range m {
		c[k] = v
	}
	return c
}

func checkTexts(t *rapid.T, db *DB, want map[string]string) {
	for key, text := range want {
		o := db.Find(entry(1, 1000), []byte(key))
		if o.Len() != len(text) || o.Text() != text {
			t.Fatalf("%s holds %d bytes, want %d, or others", key, o.Len(), len(text))
		}
		from := rapid.IntRange(0, len(text)).Draw(t, "from")
		to := rapid.IntRange(from, len(text)).Draw(t, "to")
		var pieces strings.Builder
		o.Pieces(from, to, func(s string) bool {
			pieces.WriteString(s)
			return true
		})
		if o.Part(from, to) != text[from:to] || pieces.String() != text[from:to] {
			t.Fatalf("%s: part of %d to %d differs", key, from, to)
		}
	}
}
