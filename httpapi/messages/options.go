package messages

import (
	"slices"
	"strings"
	"sync"

	"github.com/trireme-dev/trireme/fsm/httpurl"
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/internal/idn"
)

// configs are kept for the next message: a batch has a thousand.
var configs = sync.Pool{New: func() any { return new(queue.Config) }}

// readOptions reads the options of a message. It ignores fields that it doesn't know: clients send many that concern
// others. queue.Directives defines the values of a field, for commands too. forwarded is the rest of the message's
// header: Content-Type, or all of the request's if it asks for that.
func readOptions(f fields, forwarded []queue.Field) (o queue.Options, err error) {
	if err := f.refuseBlank(); err != nil {
		return o, err
	}
	c := configs.Get().(*queue.Config)
	defer func() {
		*c = queue.Config{}
		configs.Put(c)
	}()
	for i := range queue.Directives {
		d := &queue.Directives[i]
		if text := f.get(d.Name); d.Scope <= queue.OfMessage && text != "" {
			if d.Name == "label" { // which may be repeated
				text = strings.Join(f[d.Name], ",")
			}
			if err := c.Set(d.Name, text); err != nil {
				return o, Invalid("%s", err)
			}
		}
	}
	if err := forward(c, f, forwarded); err != nil {
		return o, Invalid("%s", err)
	}
	p, err := c.Done()
	if err != nil {
		return o, Invalid("%s", err)
	}
	o = p.Options
	if o.Callback, err = readCallback(f, "callback"); err != nil {
		return o, err
	}
	if o.Failure, err = readCallback(f, "failure-callback"); err != nil {
		return o, err
	}
	if o.Callback != nil {
		o.Given |= queue.GivenCallback
	}
	if o.Failure != nil {
		o.Given |= queue.GivenFailure
	}
	return o, nil
}

// readCallback reads a callback's URL and options, whose names follow the callback's name. The options of a callback
// without a URL are ignored.
func readCallback(f fields, name string) (*queue.Callback, error) {
	target := f.get(name)
	if target == "" {
		return nil, nil
	}
	u, err := httpurl.Read(target, idn.ToASCII)
	if err != nil {
		return nil, Invalid("invalid %s url %q: %s", name, target, err)
	}
	own := f.under(name + "-")
	for _, foreign := range []string{"callback", "failure-callback", "queue-name", "debounce", "batch", "singleton", "on-failure"} {
		delete(own, foreign)
	}
	o, err := readOptions(own, nil)
	if err != nil {
		return nil, Invalid("%s: %s", name, err)
	}
	return &queue.Callback{URL: u.String(), Options: o}, nil
}

// forward sets the header that a destination gets. A name given by Forward- replaces the
// same name of the request itself.
func forward(c *queue.Config, f fields, base []queue.Field) error {
	own := f.under("forward-")
	header := make([]queue.Field, 0, len(base)+len(own))
	for _, b := range base {
		if _, replaced := own[strings.ToLower(b.Name)]; !replaced {
			header = append(header, b)
		}
	}
	for name, values := range own {
		for _, value := range values {
			header = append(header, queue.Field{Name: canonical(name), Value: value})
		}
	}
	slices.SortStableFunc(header, func(a, b queue.Field) int { return strings.Compare(a.Name, b.Name) })
	for _, h := range header {
		if err := c.Forward(h.Name, h.Value); err != nil {
			return err
		}
	}
	return nil
}
