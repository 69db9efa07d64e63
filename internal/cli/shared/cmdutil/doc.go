// Package cmdutil holds the code that the verbs share: environment, errors and exit codes, flags that choose Jobs,
// clients, completion.
//
// Only this package and package view read the environment, and only Env reads the clock. ExplainError turns any error
// into one safe line that says what happened and what to do.
package cmdutil
