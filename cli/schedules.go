package cli

import (
	"encoding/json"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func scheduleGroup() *cobra.Command {
	g := newGroup(ofDatabase, "schedules", "List schedules, create, run, pause, resume and delete them", "schedule")
	g.listsAll("List the schedules", "schedules list\nschedules list --quiet", "/v2/schedules", []column{
		{"SCHEDULE", "scheduleId", nil, named}, {"CRON", "cron", nil, keep}, {"DESTINATION", "destination", nil, keep}, {"PAUSED", "isPaused", pausedForm, keep},
		{"LAST", "lastScheduleTime", when, drops}, {"NEXT", "nextScheduleTime", when, keep}, {"ERROR", "error", nil, drops},
	})
	g.shows(spec{
		use: "get ID", short: "Show a schedule and its next five times", complete: scheduleNames, example: "schedules get nightly",
	}, "/v2/schedules/", "scheduleId")
	var n publication
	g.add(spec{
		use: "create DESTINATION [BODY] --cron EXPRESSION", short: "Create or replace a schedule", args: cobra.RangeArgs(1, 2),
		example: "schedules create https://example.com/report --cron '0 3 * * *' --id nightly\n" +
			`schedules create https://example.com/report '{"kind":"daily"}' --cron 'CRON_TZ=Europe/Berlin 30 2 * * *' --misfire all`,
		flags: func(f *pflag.FlagSet) { n.flags(f, scheduleOptions, messageOptions) },
		run: func(s *session) error {
			if *n.values["Cron"] == "" {
				return Usagef("--cron is required, such as '0 3 * * *' or '@every 30s'")
			}
			text, err := s.publish(&n, s.in("/v2/schedules/"+rawDestination(s.args[0])))
			if err != nil {
				return err
			}
			var made struct {
				ScheduleID string `json:"scheduleId"`
			}
			if json.Unmarshal(text, &made) != nil {
				return s.noNode()
			}
			return s.say(json.RawMessage(text), "the schedule %s publishes to %s", made.ScheduleID, s.args[0])
		},
	})
	g.add(spec{
		use: "run ID", short: "Publish what a schedule publishes, now and once", args: cobra.ExactArgs(1), complete: scheduleNames,
		long:    "The schedule may be paused, and its own times stay as they are.",
		example: "schedules run nightly",
		run: func(s *session) error {
			text, err := s.send(s.ctx, request{method: "POST", path: s.in("/v2/schedules/" + escape(s.args[0]) + "/run")})
			if err != nil {
				return err
			}
			return s.published(text)
		},
	})
	g.switches("schedule", "/v2/schedules/", scheduleNames)
	g.deletes("schedule", "/v2/schedules/", "Delete a schedule", scheduleNames)
	return g.Command
}
