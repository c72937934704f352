package command_test

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/command/scripttest"
	"github.com/trireme-dev/trireme/fsm/reply"
)

// transaction sends a few commands as one transaction to both sides, over RESP now and
// then with watched keys, one of which may be changed meanwhile.
func (c *comparison) transaction(i int, now int64, random *rand.Rand) {
	if c.origin != "resp" {
		return
	}
	said := &dialogue{comparison: c, now: now}
	watched := fmt.Sprint("key:", 300+random.IntN(60))
	watching := random.IntN(3) == 0
	if watching {
		said.say(stepOf(inWords("WATCH key:1 " + watched)))
	}
	if watching && random.IntN(2) == 0 {
		said.say(stepOf(inWords([]string{"DEL " + watched, "SET " + watched + " 1", "LPUSH " + watched + " a", "GET " + watched, "UNWATCH"}[random.IntN(5)])))
	}
	said.say(stepOf(inWords("MULTI")))
	var steps []*scripttest.Step
	for range random.IntN(6) {
		s := c.draw(random)
		if s == nil || explained(c.differences, c.r.version, s) || !sameWithin(c.r.version, s) && rows.Find(s.Argv) != nil {
			continue
		}
		if they := said.say(s); they.Text() == "QUEUED" {
			steps = append(steps, s)
		}
	}
	end := []string{"EXEC", "EXEC", "EXEC", "DISCARD"}[random.IntN(4)]
	said.end(end, steps)
	c.compared += len(steps) + 2
	if said.differs && !said.explained {
		c.tell(i, strings.Join(said.texts, "\n"), said.they.String(), said.we.String())
		for _, line := range []string{"DISCARD", "UNWATCH"} {
			c.us.run(now, stepOf(inWords(line)))
			c.r.do(inWords(line)...)
		}
		c.anew(now, stepOf(inWords("PING")))
	}
}

// dialogue records the commands sent to both sides, in order.
type dialogue struct {
	*comparison
	now       int64
	texts     []string
	they, we  strings.Builder
	differs   bool
	explained bool
}

func (d *dialogue) say(s *scripttest.Step) reply.Value {
	d.r.setClock(d.now)
	we, they := d.us.run(d.now, s), d.r.do(s.Argv...)
	d.texts = append(d.texts, s.Text)
	d.compare(s, they, we)
	return they
}

func (d *dialogue) compare(s *scripttest.Step, they, we reply.Value) {
	x, y := d.shown(s, they), d.shown(s, we)
	fmt.Fprintln(&d.they, x)
	fmt.Fprintln(&d.we, y)
	if x != y {
		d.differs = true
		d.explained = d.explained || d.explains(s, we, they)
	}
}

// end compares the reply of EXEC by the steps that it answers.
func (d *dialogue) end(word string, steps []*scripttest.Step) {
	s := stepOf(inWords(word))
	s.Origin = command.RESP
	d.r.setClock(d.now)
	we, they := d.us.run(d.now, s), d.r.do(s.Argv...)
	d.texts = append(d.texts, word)
	if they.Kind() != reply.KindArray || we.Kind() != reply.KindArray || len(they.Elems()) != len(steps) || len(we.Elems()) != len(steps) {
		d.compare(s, they, we)
		return
	}
	for i, step := range steps {
		d.compare(step, they.Elems()[i], we.Elems()[i])
	}
}
