package messages

import (
	"net/http"
	"slices"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/httpapi/view"
)

// topic is a URL group as clients read it.
type topic struct {
	// ID is a Trireme extension: it is accepted wherever the name is.
	ID        string              `json:"id"`
	Name      string              `json:"name"`
	CreatedAt int64               `json:"createdAt"`
	UpdatedAt int64               `json:"updatedAt"`
	Endpoints []endpoint          `json:"endpoints"`
	Headers   map[string][]string `json:"headers,omitempty"`
}

// endpoint is one destination of a URL group, in requests and answers.
type endpoint struct {
	Name string `json:"name,omitempty"`
	URL  string `json:"url,omitempty"`
}

func renderTopic(g *queue.Group) topic {
	n := topic{ID: g.ID, Name: g.Name, CreatedAt: g.Created, UpdatedAt: g.Updated, Endpoints: []endpoint{}, Headers: view.Header(g.Header)}
	for _, e := range g.Endpoints {
		n.Endpoints = append(n.Endpoints, endpoint{e.Name, e.URL})
	}
	return n
}

func (re *request) changeTopic(n queue.GroupChange) error {
	return perform(re, fsm.ChangeGroup, n)
}

// changeEndpoints adds or removes the endpoints that the body lists.
func (re *request) changeEndpoints(name string, act queue.Act) error {
	var asked struct {
		Endpoints *[]endpoint `json:"endpoints"`
	}
	err := re.decode(&asked, func() bool { return asked.Endpoints != nil }, "invalid endpoints: an object with a list of endpoints is wanted")
	if err != nil {
		return err
	}
	n := queue.GroupChange{Name: name, Act: act}
	for _, e := range *asked.Endpoints {
		stored, err := re.Parser.endpointURL(e.URL)
		switch {
		case act == queue.ActAddEndpoints && err != nil:
			return err
		case act == queue.ActRemoveEndpoints: // also one that was stored before URLs were escaped
			n.Endpoints = append(n.Endpoints, queue.Endpoint{Name: e.Name, URL: e.URL})
			if err != nil || stored == e.URL {
				continue
			}
		}
		n.Endpoints = append(n.Endpoints, queue.Endpoint{Name: e.Name, URL: stored})
	}
	return re.changeTopic(n)
}

// endpointURL judges the URL of an endpoint like that of a destination.
func (p *Parser) endpointURL(text string) (string, error) {
	if text == "" {
		return "", errNoDestination
	}
	repaired, ok := repairURL(text)
	if !ok {
		return "", errScheme
	}
	return p.ReadPlainURL(repaired)
}

// setTopicHeaders sets the defaults of what is published to a group.
func (re *request) setTopicHeaders(name string) error {
	var asked struct {
		Headers *map[string]oneOrMore `json:"headers"`
	}
	err := re.decode(&asked, func() bool { return asked.Headers != nil }, "invalid topic: an object with headers is wanted")
	if err != nil {
		return err
	}
	n := queue.GroupChange{Name: name, Act: queue.ActSetHeaders}
	header := http.Header{}
	for name, values := range *asked.Headers {
		header[canonical(name)] = append(header[canonical(name)], values...)
	}
	var kept []queue.Field
	for _, v := range header["Content-Type"] {
		kept = append(kept, queue.Field{Name: "Content-Type", Value: v})
	}
	if n.Options, err = re.Parser.options(readFields(header, re.Parser.Prefixes), kept); err != nil {
		return err
	}
	if err := re.Parser.checkCallbacks(&queue.Publication{Options: n.Options}); err != nil {
		return err
	}
	if err := re.Known(re.r.Context(), &n.Options); err != nil {
		return err
	}
	for _, name := range fields(header).names() {
		for _, v := range header[name] {
			n.Header = append(n.Header, queue.Field{Name: name, Value: v})
		}
	}
	return re.changeTopic(n)
}

func (re *request) listTopics() error {
	values, err := queryValues(re.Query)
	if err != nil {
		return err
	}
	return answerAll(re, values, func(v *fsm.View, p queue.NamePage) queue.NameList[queue.Group] { return v.Messages().Groups(p) },
		func(_ *fsm.View, g *queue.Group) topic { return renderTopic(g) })
}

func (re *request) getTopic(name string) error {
	n, found, err := re.topic(name)
	switch {
	case err != nil:
		return err
	case !found:
		return NotFound("topic", name)
	}
	re.answer(http.StatusOK, renderTopic(&n))
	return nil
}

func (re *request) topic(name string) (n queue.Group, found bool, err error) {
	_, err = re.Engine.Read(re.r.Context(), fsm.Reading{}, func(v *fsm.View) { n, found = v.Messages().Group(name) })
	return n, found, err
}

// ofCall are the defaults of a group that concern the call itself, not the message that it makes: they apply while the
// call is read.
var ofCall = []string{"header-forward", "content-based-deduplication"}

// callDefaults returns the fields of ofCall that a group names; a group is read once in a
// request.
func (re *request) callDefaults(name string) (fields, error) {
	if f, known := re.groups[name]; known {
		return f, nil
	}
	n, _, err := re.topic(name)
	if err != nil {
		return nil, err
	}
	header := http.Header{}
	for _, h := range n.Header {
		header.Add(h.Name, h.Value)
	}
	f := readFields(header, re.Parser.Prefixes)
	for name := range f {
		if !slices.Contains(ofCall, name) {
			delete(f, name)
		}
	}
	if re.groups == nil {
		re.groups = map[string]fields{}
	}
	re.groups[name] = f
	return f, nil
}
