// Package cluster starts a PostgreSQL of one's own for tests, from the programs
// that are installed: in a temporary folder, reached by a socket in that folder
// only, and gone with it.
package cluster
