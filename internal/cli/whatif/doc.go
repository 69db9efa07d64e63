// Package whatif implements the verb what-if: it replays a finished Job with other policies.
package whatif
