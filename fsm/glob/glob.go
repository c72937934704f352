package glob

// Match reports whether all of text matches pattern. In a pattern * stands for any
// bytes, ? for one, [a-c] for one of a class and [^a-c] for one outside it, and a
// backslash takes the next byte literally. A class that is not closed reaches to
// the end of the pattern.
func Match(pattern string, text string) bool {
	if len(pattern)*len(text) > smallProduct {
		return matchParts(pattern, text)
	}
	return matchSmall(pattern, text)
}

// smallProduct is up to which product of both lengths trying again and again is the
// fastest way.
const smallProduct = 512

// matchSmall is Match in time up to the product of both lengths.
func matchSmall(pattern string, text string) bool {
	p, s := 0, 0
	star, resume := -1, 0 // behind the last star, and where its text ends so far
	for s < len(text) {
		if p < len(pattern) && pattern[p] == '*' {
			p++
			star, resume = p, s
			continue
		}
		if p < len(pattern) {
			if n, ok := one(pattern[p:], text[s]); ok {
				p, s = p+n, s+1
				continue
			}
		}
		// Every other element stands for exactly one byte, so it is enough to let the
		// last star grow.
		if star < 0 {
			return false
		}
		resume++
		p, s = star, resume
	}
	for p < len(pattern) && pattern[p] == '*' {
		p++
	}
	return p == len(pattern)
}

// one matches c with the first element of pattern, which is no star, and returns the
// length of that element.
func one(pattern string, c byte) (n int, ok bool) {
	switch pattern[0] {
	case '?':
		return 1, true
	case '[':
		return class(pattern, c)
	case '\\':
		if len(pattern) > 1 {
			return 2, pattern[1] == c
		}
	}
	return 1, pattern[0] == c
}

// class matches c with the class that pattern begins with. A range takes any byte
// as its end, a closing bracket too, and its ends in either order.
func class(pattern string, c byte) (n int, ok bool) {
	i, in := 1, false
	not := i < len(pattern) && pattern[i] == '^'
	if not {
		i++
	}
	for i < len(pattern) && pattern[i] != ']' {
		switch {
		case pattern[i] == '\\' && i+1 < len(pattern):
			in = in || pattern[i+1] == c
			i += 2
		case i+2 < len(pattern) && pattern[i+1] == '-':
			lo, hi := min(pattern[i], pattern[i+2]), max(pattern[i], pattern[i+2])
			in = in || lo <= c && c <= hi
			i += 3
		default:
			in = in || pattern[i] == c
			i++
		}
	}
	if i < len(pattern) {
		i++
	}
	return i, in != not
}

// Cost is about how many bytes a match of the pattern looks at for each byte of a long
// text.
func Cost(pattern string) int { return 1 + min(len(pattern), MaxSearched)/64 }

// Literal reports whether pattern matches itself alone, so that a look-up can stand
// for a search.
func Literal(pattern string) bool {
	for i := range len(pattern) {
		switch pattern[i] {
		case '*', '?', '[', '\\':
			return false
		}
	}
	return true
}
