package command

import (
	"errors"
	"strings"

	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/fsm/reply"
)

// messageRows is the family of messages: the same publish, enqueue and cancel as over HTTP, as commands, so that a
// transaction or a script can change keys and publish in one piece.
func messageRows() []Command {
	const options = " [option value [option value ...]]"
	return []Command{
		{Name: "msg.cancel", Arity: -2, Flags: Write, Cost: costConstant, Work: msgCancelWork, Doc: Doc{Version: "0.1.0", Complexity: "O(N) in messages named",
			Syntax: "MSG.CANCEL messageId [messageId ...]", Summary: "Cancels messages. Of one that is being sent the attempt goes on and no other follows it. Returns how many were neither done nor cancelled before."}, Run: msgCancel},
		{Name: "msg.enqueue", Arity: -4, Flags: Write | DenyOOM, Cost: costConstant, Work: msgEnqueueWork, Doc: Doc{Version: "0.1.0", Complexity: "O(log N) in messages",
			Syntax: "MSG.ENQUEUE queue destination body" + options, Summary: "Publishes a message that is delivered in the order of its queue, which is made if there is none. Options and reply are those of MSG.PUBLISH."}, Run: msgEnqueue},
		{Name: "msg.get", Arity: 2, Flags: ReadOnly | Fast, Cost: costConstant, Doc: Doc{Version: "0.1.0", Complexity: "O(log N) in messages",
			Syntax: "MSG.GET messageId", Summary: "Returns what a message is and how it fares, by field, or null if there is none."}, Run: msgGet},
		{Name: "msg.publish", Arity: -3, Flags: Write | DenyOOM, Cost: costConstant, Work: msgPublishWork, Doc: Doc{Version: "0.1.0", Complexity: "O(log N) in messages, for each endpoint of a URL group",
			Syntax: "MSG.PUBLISH destination body" + options, Summary: "Publishes a message to a URL, or one to each endpoint of a URL group. Options are named like the headers of the HTTP API without their prefix: RETRIES, DELAY, CALLBACK, FORWARD-X, DEDUPLICATION-ID and so on. Returns the id of the message, or the ids of a group's in the order of its endpoints."}, Run: msgPublish},
	}
}

// errNoMessages answers a command if the state has no store of messages.
var errNoMessages = reply.Error("ERR there are no messages here")

func msgPublishWork(tx *Tx, argv [][]byte) int64 { return tx.publishWork(argv, 1) }
func msgEnqueueWork(tx *Tx, argv [][]byte) int64 { return tx.publishWork(argv, 2) }

// publishWork returns the steps of a publish to the destination in a word: messages for all endpoints of a URL group.
func (tx *Tx) publishWork(argv [][]byte, at int) int64 {
	if tx.messages() == nil || len(argv) <= at+1 {
		return 0
	}
	words := int64(0)
	for i, w := range argv[at:] {
		if i != 1 { // the body, which is there once
			words += int64(len(w))
		}
	}
	return tx.messages().DestinationPrice(string(argv[at]), words, len(argv[at+1])).Work + tx.replacedWork(argv[at], argv[at+2:])
}

// replacedWork returns the steps of cancelling the messages in whose place a publish with some options comes.
func (tx *Tx) replacedWork(destination []byte, options [][]byte) int64 {
	if p := singletonOf(destination, options); p != nil {
		return tx.messages().ReplacedWork(p)
	}
	return 0
}

// singletonOf reads the singleton that options name; nil if they name none.
func singletonOf(destination []byte, options [][]byte) *queue.Publication {
	for i := 0; i+1 < len(options); i += 2 {
		if !EqualFold(options[i], "SINGLETON") {
			continue
		}
		var c queue.Config
		if c.Set("singleton", string(options[i+1])) != nil {
			return nil
		}
		if p, err := c.Done(); err == nil && p.To(string(destination)) == nil {
			return &p
		}
	}
	return nil
}

func msgCancelWork(tx *Tx, argv [][]byte) int64 {
	if tx.messages() == nil {
		return 0
	}
	return tx.messages().CancelPrice(tx.Env, &queue.Cancellation{IDs: make([]queue.ID, max(len(argv)-1, 0))}).Work
}

func msgPublish(tx *Tx, a *Args) reply.Value { return tx.publishMessage(a, "") }

func msgEnqueue(tx *Tx, a *Args) reply.Value {
	name := a.String()
	if !queue.ValidName(name) {
		a.Fail(reply.Error("ERR invalid queue name: use letters, digits, hyphens, underscores and dots"))
	}
	return tx.publishMessage(a, name)
}

func (tx *Tx) publishMessage(a *Args, queueName string) reply.Value {
	destination, body := a.String(), a.Bytes()
	p, refusal := messageOptions(tx, a)
	if err, ok := a.Done(); !ok {
		return err
	}
	if refusal != nil {
		return refused(refusal)
	}
	p.Body, p.Hops = body, tx.Hops
	if queueName != "" {
		p.Queue, p.Given = queueName, p.Given|queue.GivenQueue
	}
	if refusal := p.To(destination); refusal != nil {
		return refused(refusal)
	}
	if tx.messages() == nil {
		return errNoMessages
	}
	out, err := tx.messages().Publish(tx.Env, queue.Publications{Items: []queue.Publication{p}})
	if err != nil {
		return refused(err)
	}
	return published(out.Items[0])
}

// messageOptions are the words behind a body: pairs of an option and its value.
func messageOptions(tx *Tx, a *Args) (queue.Publication, error) {
	c := queue.Config{Strict: true}
	for a.Left() > 0 {
		pair := a.Take(2)
		if pair == nil {
			return queue.Publication{}, nil
		}
		if err := c.Set(string(pair[0]), string(pair[1])); err != nil {
			return queue.Publication{}, err
		}
	}
	if expression, _, _ := c.Cron(); expression != "" {
		return queue.Publication{}, &queue.Error{Code: queue.ErrInvalid.Code, Text: "schedules are made through the HTTP API"}
	}
	if run := c.RunOptions(); !run.IsZero() {
		return queue.Publication{}, &queue.Error{Code: queue.ErrInvalid.Code, Text: "only a workflow run keeps events, accepts updates, has inline steps or a deployment: use WF.TRIGGER"}
	}
	p, err := c.Done()
	if err == nil {
		err = commitsAs(tx, &p)
	}
	return p, err
}

func published(r queue.Receipt) reply.Value {
	if r.Refused != nil {
		return refused(r.Refused)
	}
	ids := make([]reply.Value, len(r.Messages))
	for i, m := range r.Messages {
		ids[i] = reply.Bulk(m.ID.String())
	}
	if !r.Group {
		return ids[0]
	}
	return reply.Array(ids...)
}

// refused is a refusal as Redis clients know errors: a code in capitals and a text.
func refused(err error) reply.Value {
	code := "ERR "
	switch {
	case errors.Is(err, queue.ErrNotFound):
		code = "NOTFOUND "
	case errors.Is(err, queue.ErrQuota):
		code = "QUOTA "
	}
	text := []byte(err.Error())
	for i := range text {
		if text[i] < ' ' { // an error is one line
			text[i] = ' '
		}
	}
	return reply.Error(code + string(text))
}

func msgCancel(tx *Tx, a *Args) reply.Value {
	var n queue.Cancellation
	for a.Left() > 0 {
		id, ok := queue.ParseID(a.String())
		if ok {
			n.IDs = append(n.IDs, id)
		}
	}
	if err, ok := a.Done(); !ok {
		return err
	}
	if len(n.IDs) == 0 { // without ids it would mean all
		return reply.Int(0)
	}
	if tx.messages() == nil {
		return errNoMessages
	}
	out, err := tx.messages().Cancel(tx.Env, n)
	if err != nil {
		return refused(err)
	}
	return reply.Int(int64(out.Count))
}

func msgGet(tx *Tx, a *Args) reply.Value {
	id, ok := queue.ParseID(a.String())
	if err, done := a.Done(); !done {
		return err
	}
	if tx.messages() == nil {
		return errNoMessages
	}
	m, found := tx.messages().Message(id, tx.Now)
	if !ok || !found {
		return reply.Nil()
	}
	c := m.Content
	body, header := c.RedactedParts()
	fields := []reply.Value{
		reply.Bulk("messageId"), reply.Bulk(id.String()), reply.Bulk("state"), reply.Bulk(m.State.String()),
		reply.Bulk("url"), reply.Bulk(c.URL), reply.Bulk("method"), reply.Bulk(c.DeliveryMethod()),
	}
	text := func(name, v string) {
		if v != "" {
			fields = append(fields, reply.Bulk(name), reply.Bulk(v))
		}
	}
	number := func(name string, v int64) { fields = append(fields, reply.Bulk(name), reply.Int(v)) }
	lines := make([]reply.Value, 0, 2*len(header))
	for _, f := range header {
		lines = append(lines, reply.Bulk(queue.CanonicalName(f.Name)), reply.Bulk(f.Value))
	}
	fields = append(fields, reply.Bulk("header"), reply.Array(lines...), reply.Bulk("body"), reply.Bulk(body))
	number("maxRetries", int64(c.Retries))
	number("retried", int64(m.Retried))
	number("createdAt", c.Created)
	number("notBefore", c.FirstAt)
	if m.Next > 0 {
		number("nextDeliveryTime", m.Next)
	}
	if m.ID != id {
		text("batchId", m.ID.String())
	}
	text("topicName", c.Group)
	text("endpointName", c.Endpoint)
	text("queueName", c.Queue)
	text("scheduleId", c.Schedule)
	text("retryDelayExpression", c.RetryDelay)
	if c.Flow != nil {
		text("flowControlKey", c.Flow.Key)
	}
	if p := c.PriorityOf(); p > 0 {
		number("priority", int64(p))
	}
	text("tenant", c.TenantOf())
	if n := c.CostOf(); n > 1 {
		number("cost", int64(n))
	}
	text("label", strings.Join(c.Labels, ","))
	return reply.Map(fields...)
}
