// Package mutations makes single mistakes in manifests, as users do, and records their lines. Its tests check that lint reports
// these lines; test/cluster/integration compares lint with an API server.
//
//	manifests ─► All ─► Mutations: one mistake each, with its kind and line
package mutations
