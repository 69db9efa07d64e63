// Package explain implements the verb explain-failure: it explains why Jobs failed, or what they wait for.
package explain
