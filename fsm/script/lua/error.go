package lua

import "strconv"

// Error is an error of a script: any value.
type Error struct {
	Value Value
	// Source and Line are the place of the error; Source is empty if no function written in Lua
	// was running.
	Source string
	Line   int
}

// Error is the error as tostring would show it.
func (e *Error) Error() string {
	if s, ok := new(Budget).Text(e.Value); ok {
		return s
	}
	return "(error object is a " + e.Value.Type() + " value)"
}

// throwCost is the cost of raising and catching an error, in steps.
const throwCost = 80

// Throw raises a value as an error.
func (st *State) Throw(v Value) {
	st.Step(throwCost)
	e := &Error{Value: v}
	e.Source, e.Line = st.place()
	if h := st.co.handlers; len(h) > 0 && !h[len(h)-1].IsNil() {
		e.Value = st.handle(h[len(h)-1], v)
	}
	panic(e)
}

// handle calls the handler of xpcall where the error happened; an error in it is
// itself the result.
func (st *State) handle(handler, v Value) Value {
	co := st.co
	saved := co.handlers
	co.handlers = nil
	defer func() { co.handlers = saved }()
	if e := st.protected(handler, []Value{v}, Nil); e != nil {
		return st.String("error in error handling")
	}
	return st.result()
}

// place returns the current line of the innermost function written in Lua.
func (st *State) place() (source string, line int) {
	for i := st.co.top - 1; i >= 0; i-- {
		if f := st.co.frames[i]; f.cl != nil {
			return f.cl.proto.source, f.line()
		}
	}
	return "", 0
}

// line returns the line of the call under way in the frame.
func (f *frame) line() int {
	if f.site == nil {
		return f.cl.proto.line
	}
	return f.site.line
}

// top is the innermost frame.
func (st *State) top() *frame {
	if st.co.top == 0 {
		return &frame{vm: st}
	}
	return st.co.frames[st.co.top-1]
}

// where is the place of a call, as it stands before messages: level 1 is the function
// that called ours. It is empty for functions of ours.
func (st *State) where(lvl int) string {
	at := st.co.top - lvl
	if lvl < 1 || at < 0 {
		return ""
	}
	if f := st.co.frames[at]; f.cl != nil {
		return f.cl.proto.chunk + ":" + strconv.Itoa(f.line()) + ": "
	}
	return ""
}

// Errorf raises an error of a function of ours, with the place that called it.
func (st *State) Errorf(text string) { st.Throw(st.String(st.where(1) + text)) }

// fail raises an error without a place.
func (st *State) fail(text string) { st.Throw(st.String(text)) }

// fail raises an error of the program itself at the place where the frame is.
func (f *frame) fail(text string) {
	if f.cl != nil {
		text = f.cl.proto.chunk + ":" + strconv.Itoa(f.line()) + ": " + text
	}
	f.vm.Throw(f.vm.String(text))
}

// failAt is fail at a site.
func (f *frame) failAt(s *site, text string) {
	f.site = s
	f.fail(text)
}

// typeError says that an operation doesn't take a value, which s names.
func (f *frame) typeError(v Value, s *site, op string) {
	what := "a " + v.Type() + " value"
	if s != nil && s.kind != "" && f.cl != nil {
		what = s.kind + " '" + s.name + "' (" + what + ")"
	}
	f.fail("attempt to " + op + " " + what)
}

// ArgError raises an error about an argument of the running function of ours, counted
// from 1.
func (st *State) ArgError(n int, text string) {
	name := "?"
	if f := st.top(); f.cl != nil && f.site != nil && f.site.kind != "" {
		name = f.site.name
		if f.site.kind == "method" {
			if n--; n == 0 {
				st.Errorf("calling '" + name + "' on bad self (" + text + ")")
			}
		}
	}
	st.Errorf("bad argument #" + strconv.Itoa(n) + " to '" + name + "' (" + text + ")")
}

// argType raises the error of an argument of the wrong type.
func (st *State) argType(args []Value, n int, want string) {
	got := "no value"
	if n <= len(args) {
		got = args[n-1].Type()
	}
	st.ArgError(n, want+" expected, got "+got)
}
