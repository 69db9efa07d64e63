// Package whatif is the verb what-if: it replays a Job that ran with other policies.
package whatif
