package jsonbody

import (
	"bytes"
	"fmt"
	"net/http"
)

// MaxValues is the most values of a JSON body: its values take up to a hundred times as many bytes as the body has.
const MaxValues = 1_000_000

// MaxSelected is the most values of a body that selects: each is kept separately, with its name.
const MaxSelected = 100_000

// valueBytes is about the memory of a value that was read.
const valueBytes = 64

// Bounds limits the JSON of a body.
type Bounds struct {
	// Items is the most elements of the outermost array, Values the most values in all; 0 is MaxValues.
	Items, Values int
	// Raw names the member of each element whose value is kept as it is written, so that its own values don't count.
	Raw string
}

// Admit counts the values of a body before any of it is read, and counts the memory for them as held by the request. It
// checks nothing else: the reader refuses what is no JSON. The error is an *Error, or the error of the memory. If r, the
// request with the body, is nil, only the numbers of values are checked.
func Admit(r *http.Request, body []byte, most Bounds) error {
	if most.Items == 0 {
		most.Items = MaxValues
	}
	if most.Values == 0 {
		most.Values = MaxValues
	}
	s := counter{text: body, raw: most.Raw}
	s.count(most)
	switch {
	case s.items > most.Items:
		return tooMany("elements", most.Items)
	case s.values > most.Values:
		return tooMany("values", most.Values)
	}
	return Hold(r, int64(s.values)*valueBytes)
}

func tooMany(what string, most int) error {
	return &Error{http.StatusBadRequest, fmt.Sprintf("the body has more than %d %s: send several requests", most, what)}
}

// Hold counts bytes that a request takes in addition to its body, until it ends, if its body counts them.
func Hold(r *http.Request, n int64) error {
	if r == nil {
		return nil
	}
	if of, counted := r.Body.(interface{ Hold(n int64) error }); counted {
		return of.Hold(n)
	}
	return nil
}

// counter counts values by their separators.
type counter struct {
	text          []byte
	raw           string
	depth         int
	items, values int
}

// count counts values until there are too many.
func (c *counter) count(most Bounds) {
	named, inRaw := false, false // the last string was the raw name; what follows is its value
	for i := 0; i < len(c.text) && c.items <= most.Items && c.values <= most.Values; i++ {
		switch c.text[i] {
		case '"':
			end := stringEnd(c.text, i+1)
			named = c.depth == 2 && c.raw != "" && string(c.text[i+1:min(end, len(c.text))]) == c.raw
			i = end
		case ':':
			inRaw = inRaw || named
		case ',':
			if c.depth <= 2 {
				inRaw, named = false, false
			}
			if !inRaw {
				c.values++
			}
			if c.depth == 1 {
				c.items++
			}
		case '[', '{':
			if c.depth++; !inRaw {
				c.values++
			}
		case ']', '}':
			if c.depth--; c.depth < 2 {
				inRaw, named = false, false
			}
		}
	}
	c.items++ // commas stand between them
}

// stringEnd returns the position of the quote that ends a string.
func stringEnd(text []byte, from int) int {
	for from < len(text) {
		n := bytes.IndexAny(text[from:], `"\`)
		switch {
		case n < 0:
			return len(text)
		case text[from+n] == '"':
			return from + n
		}
		from += n + 2
	}
	return len(text)
}
