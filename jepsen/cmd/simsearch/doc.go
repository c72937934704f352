// Command simsearch searches for the first simulated history that breaks a rule, and prints its seed and the rule as JSON.
// The rule is empty if none was broken within -limit. Command mutants builds it once for each seeded fault.
package main
