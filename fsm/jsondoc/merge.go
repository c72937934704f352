package jsondoc

// Merge applies a merge patch (RFC 7396) to the value at m.
func (t *Tree) Merge(m *Match, patch Value) {
	p, ok := patch.(*Object)
	if !ok {
		t.Replace(m, patch)
		return
	}
	if _, ok := t.current(m).(*Object); !ok {
		t.Replace(m, WithoutNulls(patch))
		return
	}
	o := t.own(m).(*Object)
	p.All(func(key string, v Value) bool {
		old, had := o.Get(key)
		switch {
		case v == Null{} && had:
			m.grow(-memberSize(key, o.remove(key)))
		case v == Null{}:
		case had:
			t.Merge(m.child(key, noIndex, old), v)
		default:
			t.SetMember(m, key, WithoutNulls(v))
		}
		return true
	})
}

// WithoutNulls returns the result of a merge patch on nothing: its objects without members
// that are null.
func WithoutNulls(v Value) Value {
	patch, ok := v.(*Object)
	if !ok {
		return v
	}
	o := NewObject()
	patch.All(func(key string, v Value) bool {
		if v != (Null{}) {
			o.put(key, WithoutNulls(v))
		}
		return true
	})
	return o
}
