package queue

// Course says how far a message had come by an event of it.
type Course struct {
	// Attempts is the number of attempts so far.
	Attempts int
	// Began and Ended are those of the last attempt that has ended, in unix milliseconds; 0 if none has, or it is not kept.
	Began, Ended int64
	// Response is the answer to it, if there was one and it failed; Error says why there was none.
	Response *Response
	Error    string
}

// maxCourse is the most events between one and the end of the attempt before it.
const maxCourse = 8

// course finds the last attempt that has ended by an event.
func (r *reader) course(v *Event, attempts uint32) *Course {
	c := &Course{Attempts: int(attempts)}
	for range maxCourse {
		if v.State == Delivered || v.State == Failing {
			c.Ended, c.Response, c.Error = v.At, v.details().response.whole(), v.details().failure
			if began := r.event(v.before); began != nil && began.State == Active {
				c.Began = began.At
			}
			break
		}
		if v = r.event(v.before); v == nil {
			break
		}
	}
	return c
}
