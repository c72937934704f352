// Package report holds the results of a benchmark: rows of pairs with their quartiles,
// judged against a required and a desired figure, as JSON, as text for a terminal and as a
// Markdown table.
package report
