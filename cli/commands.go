package cli

import "github.com/spf13/cobra"

// Commands returns all groups of commands, for the program's root command.
func Commands() []*cobra.Command {
	return []*cobra.Command{
		contextGroup(), redisCommand(), messageGroup(), dlqGroup(), queueGroup(), scheduleGroup(), urlGroupGroup(), flowGroup(),
		runGroup(), deploymentGroup(), triggerGroup(), eventsCommand(), userGroup(), tokenGroup(), databaseGroup(), clusterGroup(), recoverCommand(), topCommand(), healthCommand(),
	}
}
