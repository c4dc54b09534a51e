// Makes the requests of one interface: fills in its placeholders for one attempt. Used by routes.

import type { MonthCalendar } from '../../domain/cards/month-calendar.ts';
import type { GatewayConfig, GatewayInterface } from '../../domain/gateway/gateway-config.ts';
import type { CalledCard } from '../gateway.ts';
import { commonValues } from './common-values.ts';
import type { GatewayRequest } from './request.ts';
import { requestTemplate } from './template.ts';

/** @returns a function that makes the request for some cards; every attempt gets new values for the placeholders. */
export function requestMaker(call: GatewayInterface, profile: GatewayConfig, calendar: MonthCalendar) {
  const request = requestTemplate(call, profile.url, call.batch?.join);
  const valuesAt = commonValues(call, profile, calendar);
  return (cards: readonly [CalledCard, ...CalledCard[]], nowMs: number): GatewayRequest => {
    const [{ iccid, cardId, carrierId, vendorId }] = cards;
    return request({
      ...valuesAt(nowMs),
      iccid,
      card_id: String(cardId),
      carrier_id: String(carrierId),
      vendor_id: vendorId ?? '',
      iccids: cards.map((card) => card.iccid),
    });
  };
}
