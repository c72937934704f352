// Package workflow is under construction.
package workflow
