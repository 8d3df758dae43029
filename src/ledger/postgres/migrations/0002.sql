-- compatible with programs of format 1
-- Parts of lots are dropped by age when no block of them is left.
CREATE INDEX lot_part_age ON qrn.lot_part (at_ms, id);
