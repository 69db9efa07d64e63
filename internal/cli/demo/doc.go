// Package demo implements the verb demo: a simulated cluster in the interactive view.
package demo
