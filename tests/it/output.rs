//! What people see: help, tables, error messages, results files.
