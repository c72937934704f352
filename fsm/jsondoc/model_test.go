package jsondoc

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/trireme-dev/trireme/fsm/wire"
)

// node is a value of the model: a scalar, or a list of children with or without keys.
type node struct {
	scalar Value
	keys   []string // of an object
	kids   []*node  // of an array or an object
	object bool
}

func modelOf(v Value) *node {
	switch v := v.(type) {
	case *Array:
		n := &node{}
		v.All(func(_ int, e Value) bool { n.kids = append(n.kids, modelOf(e)); return true })
		return n
	case *Object:
		n := &node{object: true}
		v.All(func(key string, e Value) bool {
			n.keys, n.kids = append(n.keys, key), append(n.kids, modelOf(e))
			return true
		})
		return n
	}
	return &node{scalar: v}
}

// value is the model as a fresh value.
func (n *node) value() Value {
	switch {
	case n.scalar != nil:
		return n.scalar
	case !n.object:
		values := make([]Value, len(n.kids))
		for i, k := range n.kids {
			values[i] = k.value()
		}
		return NewArray(values...)
	}
	o := NewObject()
	for i, k := range n.kids {
		o.put(n.keys[i], k.value())
	}
	return o
}

// draw is a value of at most that depth, with containers on both sides of maxFlat.
func draw(t *rapid.T, depth int) Value {
	kind := rapid.IntRange(0, 11).Draw(t, "kind")
	if depth == 0 {
		kind = min(kind, 6)
	}
	n := rapid.SampledFrom([]int{0, 1, 2, 3, 4, 63, 64, 65, 150}).Draw(t, "n")
	if n > 10 {
		depth = 1
	}
	switch kind {
	case 0:
		return Null{}
	case 1:
		return Bool(rapid.Bool().Draw(t, "bool"))
	case 2, 3:
		return Int(rapid.Int64Range(-3, 3).Draw(t, "int"))
	case 4:
		return Uint(1<<63 + rapid.Uint64Range(0, 3).Draw(t, "uint"))
	case 5:
		return Double(rapid.Float64Range(-3, 3).Draw(t, "double"))
	case 6:
		return String(rapid.StringN(0, 4, 12).Draw(t, "string"))
	case 7, 8:
		values := make([]Value, n)
		for i := range values {
			values[i] = draw(t, depth-1)
		}
		return NewArray(values...)
	}
	o := NewObject()
	for i := range n {
		key := string("abc"[i%3])
		if i >= 3 {
			key = fmt.Sprint("k", i)
		}
		o.put(key, draw(t, depth-1))
	}
	return o
}

// text is v as text, which tells values apart.
func text(t interface{ Fatal(...any) }, v Value) string {
	s, err := Text(v)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// measure is the size of v, counted from nothing.
func measure(v Value) int64 {
	size := int64(placeCost)
	switch v := v.(type) {
	case Int, Uint, Double:
		size += numberCost
	case String:
		size += stringCost + int64(len(v))
	case *Array:
		size += containerCost
		v.All(func(_ int, e Value) bool { size += measure(e); return true })
	case *Object:
		size += containerCost
		v.All(func(key string, e Value) bool { size += keyCost + int64(len(key)) + measure(e); return true })
	}
	return size
}

// at is the node of the model where m is.
func at(root *node, m *Match) *node {
	if m.parent == nil {
		return root
	}
	n := at(root, m.parent)
	return n.kids[n.position(m)]
}

func (n *node) position(m *Match) int {
	if m.index != noIndex {
		return m.index
	}
	return slices.Index(n.keys, m.key)
}

// changes make each change of a Tree on the tree and on its model.
var changes = map[string]func(t *rapid.T, tree *Tree, root *node, found []*Match){
	"replace": func(t *rapid.T, tree *Tree, root *node, found []*Match) {
		v := draw(t, 1)
		for _, m := range found {
			tree.Replace(m, v)
			*at(root, m) = *modelOf(v)
		}
	},
	"remove": func(t *rapid.T, tree *Tree, root *node, found []*Match) {
		if found = Outermost(found); found[0].IsRoot() {
			return
		}
		tree.Remove(found)
		gone := map[*node]bool{}
		for _, m := range found {
			gone[at(root, m)] = true
		}
		for _, m := range found {
			parent := at(root, m.parent)
			var keys []string
			var kids []*node
			for i, k := range parent.kids {
				if gone[k] {
					continue
				}
				if kids = append(kids, k); parent.object {
					keys = append(keys, parent.keys[i])
				}
			}
			defer func() { parent.keys, parent.kids = keys, kids }() // until then positions hold
		}
	},
	"member": func(t *rapid.T, tree *Tree, root *node, found []*Match) {
		key, v := rapid.SampledFrom([]string{"a", "b", "new", "k9"}).Draw(t, "key"), draw(t, 1)
		for _, m := range found {
			n := at(root, m)
			if tree.SetMember(m, key, v) != n.object {
				t.Fatalf("a member was set in no object, or not in one")
			}
			if !n.object {
				continue
			}
			if i := slices.Index(n.keys, key); i >= 0 {
				n.kids[i] = modelOf(v)
			} else {
				n.keys, n.kids = append(n.keys, key), append(n.kids, modelOf(v))
			}
		}
	},
	"insert": func(t *rapid.T, tree *Tree, root *node, found []*Match) {
		values := []Value{draw(t, 1), Int(7)}
		tree.Own(found)
		for _, m := range found {
			if n := at(root, m); n.scalar == nil && !n.object {
				i := rapid.IntRange(0, len(n.kids)).Draw(t, "i")
				tree.Insert(m, i, values)
				defer func() { n.kids = slices.Insert(slices.Clone(n.kids), i, modelOf(values[0]), modelOf(values[1])) }()
			}
		}
	},
	"pop": func(t *rapid.T, tree *Tree, root *node, found []*Match) {
		tree.Own(found)
		nodes := make([]*node, len(found))
		for i, m := range found {
			nodes[i] = at(root, m)
		}
		for i, m := range found {
			if n := nodes[i]; n.scalar == nil && !n.object && len(n.kids) > 0 {
				j := rapid.IntRange(0, len(n.kids)-1).Draw(t, "i")
				if got, want := text(t, tree.Pop(m, j)), text(t, n.kids[j].value()); got != want {
					t.Fatalf("popped %s, want %s", got, want)
				}
				n.kids = slices.Delete(slices.Clone(n.kids), j, j+1)
			}
		}
	},
	"trim": func(t *rapid.T, tree *Tree, root *node, found []*Match) {
		tree.Own(found)
		nodes := make([]*node, len(found))
		for i, m := range found {
			nodes[i] = at(root, m)
		}
		for i, m := range found {
			if n := nodes[i]; n.scalar == nil && !n.object {
				from := rapid.IntRange(0, len(n.kids)).Draw(t, "from")
				to := rapid.IntRange(from, len(n.kids)).Draw(t, "to")
				tree.Trim(m, from, to)
				n.kids = slices.Clone(n.kids[from:to])
			}
		}
	},
	"merge": func(t *rapid.T, tree *Tree, root *node, found []*Match) {
		patch := draw(t, 2)
		for _, m := range found {
			tree.Merge(m, patch)
			n := at(root, m)
			*n = *merged(n, modelOf(patch))
		}
	},
}

// merged is RFC 7396 on models.
func merged(target, patch *node) *node {
	if patch.scalar != nil || !patch.object {
		return patch
	}
	out := &node{object: true}
	if target != nil && target.scalar == nil && target.object {
		out.keys, out.kids = slices.Clone(target.keys), slices.Clone(target.kids)
	}
	for i, key := range patch.keys {
		j := slices.Index(out.keys, key)
		null := patch.kids[i].scalar == Null{}
		switch {
		case null && j >= 0:
			out.keys, out.kids = slices.Delete(out.keys, j, j+1), slices.Delete(out.kids, j, j+1)
		case null:
		case j >= 0:
			out.kids[j] = merged(out.kids[j], patch.kids[i])
		default:
			out.keys, out.kids = append(out.keys, key), append(out.kids, merged(nil, patch.kids[i]))
		}
	}
	return out
}

// paths are the paths that the changes are tried on.
var paths = []string{"$", "$.a", "$.*", "$..a", "$..*", "$[0]", "$[*].a", "$[1:]", "$.b..*", "$..a..b", "$[-1,0]", "$..['a','c']", "$..[0]"}

// TestTreeAgainstModel changes documents and compares them, and copies taken on the way,
// with a model; sizes and snapshots must agree at any moment.
func TestTreeAgainstModel(t *testing.T) {
	var names []string
	for name := range changes {
		names = append(names, name)
	}
	slices.Sort(names)
	rapid.Check(t, func(t *rapid.T) {
		tree := NewTree(draw(t, 3))
		type copied struct {
			tree Tree
			text string
		}
		var copies []copied
		for range rapid.IntRange(1, 12).Draw(t, "changes") {
			if rapid.IntRange(0, 3).Draw(t, "copy") == 0 {
				c := tree.Clone()
				if rapid.Bool().Draw(t, "swap") {
					tree, c = c, tree
				}
				copies = append(copies, copied{c, text(t, c.Root())})
			}
			p, err := ParsePath(rapid.SampledFrom(paths).Draw(t, "path"))
			if err != nil {
				t.Fatal(err)
			}
			found, err := Find(tree.Root(), p, NewWork())
			if err != nil {
				t.Fatal(err)
			}
			if len(found) == 0 {
				continue
			}
			root := modelOf(tree.Root())
			name := rapid.SampledFrom(names).Draw(t, "change")
			func() { changes[name](t, &tree, root, found) }()
			if got, want := text(t, tree.Root()), text(t, root.value()); got != want {
				t.Fatalf("%s at %s: got\n%s\nwant\n%s", name, p.Text, got, want)
			}
			if got, want := tree.Size(), measure(tree.Root()); got != want {
				t.Fatalf("%s at %s: size %d, counted %d", name, p.Text, got, want)
			}
		}
		checkCodec(t, tree.Root())
		for _, c := range copies {
			if got := text(t, c.tree.Root()); got != c.text {
				t.Fatalf("a copy became %s, was %s", got, c.text)
			}
		}
	})
}

// checkCodec reads back what a snapshot writes.
func checkCodec(t *rapid.T, v Value) {
	var w, again wire.Writer
	Encode(&w, v)
	r := wire.NewReader(w.B)
	got, ok := Decode(r)
	if !ok || r.Done() != nil {
		t.Fatalf("not read back: %v", r.Done())
	}
	if Encode(&again, got); !bytes.Equal(w.B, again.B) || got.Size() != v.Size() {
		t.Fatalf("read back as another document, of %d bytes, not %d", got.Size(), v.Size())
	}
	for i := range min(len(w.B), 40) {
		if v, ok := Decode(wire.NewReader(w.B[:i])); ok && len(w.B) > i && text(t, v) == text(t, got) && isContainer(v) && v.(interface{ Len() int }).Len() > 0 {
			t.Fatalf("a record cut at %d was read whole", i)
		}
	}
}
