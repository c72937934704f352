package lua

import "math"

// CheckTable is argument n, counted from 1, as a table; anything else is an error.
func (st *State) CheckTable(args []Value, n int) *Table {
	if n <= len(args) {
		if t, ok := args[n-1].ref.(*Table); ok {
			return t
		}
	}
	st.argType(args, n, "table")
	return nil
}

// CheckNumber is argument n as a number, converted from a string if need be.
func (st *State) CheckNumber(args []Value, n int) float64 {
	if n <= len(args) {
		if x, ok := st.ToNumber(args[n-1]); ok {
			return x
		}
	}
	st.argType(args, n, "number")
	return 0
}

// CheckInt is argument n as an integer, truncated.
func (st *State) CheckInt(args []Value, n int) int { return toInt(st.CheckNumber(args, n)) }

// OptInt is CheckInt with a default for nil and none.
func (st *State) OptInt(args []Value, n, def int) int {
	if n > len(args) || args[n-1].IsNil() {
		return def
	}
	return st.CheckInt(args, n)
}

// CheckText is argument n as a string, converted from a number if need be.
func (st *State) CheckText(args []Value, n int) string {
	if n <= len(args) {
		if s, ok := st.Text(args[n-1]); ok {
			return s
		}
	}
	st.argType(args, n, "string")
	return ""
}

// OptText is CheckText with a default for nil and none.
func (st *State) OptText(args []Value, n int, def string) string {
	if n > len(args) || args[n-1].IsNil() {
		return def
	}
	return st.CheckText(args, n)
}

// CheckAny is argument n, which may be nil but must be there.
func (st *State) CheckAny(args []Value, n int) Value {
	if n > len(args) {
		st.ArgError(n, "value expected")
	}
	return args[n-1]
}

// arg is argument n, nil if there is none.
func arg(args []Value, n int) Value {
	if n <= len(args) {
		return args[n-1]
	}
	return Nil
}

// clampInt cuts a position to what C's int holds, where Lua uses one.
func clampInt(n int) int { return max(math.MinInt32, min(math.MaxInt32, n)) }
